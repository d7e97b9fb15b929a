"""Words around measures: presets, phrases that people search for, references, formulas."""

from __future__ import annotations

import re
from typing import NamedTuple

_HIT_RATE = (
    "What the field calls {} is a hit rate, Success@k: whether any relevant item is among the "
    "first k, however many are relevant. R@k is another number wherever a query has several: the "
    "share of them that are found."
)


def _split(measures: str) -> tuple[str, ...]:
    return tuple(measures.split())


class Preset(NamedTuple):
    """The measures that a community reports, and the reasons.

    >>> ABOUT["msmarco"].title, ABOUT["msmarco"].measures
    ('Passage search of MS MARCO', ('RR@10', 'R@50', 'R@1000', 'nDCG@10'))
    """

    title: str
    """The community."""
    says: str
    """Why these, and what their names mean there."""
    measures: tuple[str, ...]
    """In the order of reporting; columns are called so."""


ABOUT: dict[str, Preset] = {
    "trec": Preset(
        "Search at TREC: long lists, deep judgements",
        "Whole lists (AP, R-precision, Bpref), the top that a person sees (P, nDCG), and how much "
        "of all that is relevant a list of 100 or 1,000 holds (R@k).",
        _split("AP Rprec Bpref RR nDCG nDCG@10 nDCG@20 P@5 P@10 P@20 R@100 R@1000"),
    ),
    "beir": Preset(
        "Zero-shot text retrieval of BEIR",
        "nDCG@10 is the number of its tables. R(norm=capped)@100 is its R_cap@100, which can "
        "reach 1 where more than 100 items are relevant; R@k is the share of all relevant items.",
        _split("nDCG@10 AP@10 R@10 P@10 nDCG@100 AP@100 R@100 R(norm=capped)@100"),
    ),
    "mteb": Preset(
        "Retrieval tasks of MTEB",
        "nDCG@10 is the main score of its retrieval tasks; R@k is the share of all relevant items.",
        ("nDCG@10", "AP@10", "R@10", "P@10", "RR@10", "R@100", "R@1000"),
    ),
    "msmarco": Preset(
        "Passage search of MS MARCO",
        "Most queries have one relevant passage: RR@10 says how high it stands, and R@k whether a "
        "first stage finds it for a second one to rank.",
        ("RR@10", "R@50", "R@1000", "nDCG@10"),
    ),
    "clip": Preset(
        "Image and text retrieval of CLIP and its followers",
        _HIT_RATE.format("Recall@k, or R@k,") + " MedR and MeanR are the median and the mean "
        "of the first relevant item's rank.",
        ("Success@1", "Success@5", "Success@10", "MedR", "MeanR"),
    ),
    "clap": Preset(
        "Audio and text retrieval of CLAP and its followers",
        _HIT_RATE.format("Recall@k, or R@k,") + " AP@10 is its mAP@10, and MedR and MeanR are the "
        "median and the mean of the first relevant item's rank.",
        ("Success@1", "Success@5", "Success@10", "AP@10", "MedR", "MeanR"),
    ),
    "reid": Preset(
        "Re-identification of people and vehicles",
        _HIT_RATE.format("Rank-k, or CMC,") + " AP is its mAP, and INP its mINP: how cheaply the "
        "last relevant item is found.",
        ("Success@1", "Success@5", "Success@10", "AP", "INP"),
    ),
    "metric-learning": Preset(
        "Deep metric learning (CUB, Cars, SOP)",
        _HIT_RATE.format("Recall@k") + " AP@R is its MAP@R.",
        _split("Success@1 Success@2 Success@4 Success@8 Success@10 Success@100 Rprec AP@R RR"),
    ),
    "rag": Preset(
        "Retrieval for generation (RAG): what is put before a language model",
        "Success@k is the hit rate: whether any relevant chunk is among the first k, enough where "
        "one chunk holds the answer. R@k is the share of all relevant chunks that are, which is "
        "what counts where an answer needs several. P@5 is how much of the context is of use, and "
        "AP(norm=retrieved)@5 what ragas calls context precision.",
        ("Success@1", "Success@5", "P@5", "R@5", "RR@10", "nDCG@10", "AP(norm=retrieved)@5"),
    ),
    "recsys": Preset(
        "Recommendation",
        "Success@10 is the hit rate (HR@10): whether any item that the user took is among the "
        "first 10; R@10 is the share of all of them. AP is divided by the most that 10 places can "
        "hold, and nDCG takes all that was taken as equal.",
        ("P@10", "R@10", "Success@10", "RR@10", "AP(norm=capped)@10", "nDCG(gain=binary)@10"),
    ),
}
"""Every preset by its name."""

PRESETS: dict[str, tuple[str, ...]] = {name: preset.measures for name, preset in ABOUT.items()}
"""The measures of each preset."""


TOPICS: dict[tuple[str, ...], tuple[str, str]] = {
    ("precision-recall curve", "PR curve", "AUC-PR", "PR AUC", "AUPRC", "AUCPR"): (
        "'judged plot precision-recall' draws the curve. AP is the area under it; "
        "AP(area=trapezoid) and AP(area=interpolated) take the area in other ways.",
        "average-precision",
    ),
    ("ROC curve", "ROC"): ("'judged plot roc' draws the curve. RankAUC is the area.", "charts"),
    ("confusion matrix", "confusion table", "contingency table"): (
        "TP@k, FP@k, FN@k and TN@k are its counts; 'judged plot confusion-at-k' draws them for "
        "each k.",
        "charts",
    ),
    ("temperature", "softmax temperature", "logit scale"): (
        "'judged temperature' shows what a temperature does to loss and confidence. It changes no "
        "ranking.",
        "temperature",
    ),
    ("learned similarity", "similarity learning"): (
        "'judged learn' learns a similarity from vectors and relevance.",
        "temperature",
    ),
    ("cosine similarity", "cosine", "dot product", "euclidean distance", "similarity"): (
        "'judged embeddings --similarity' ranks by cosine (default), dot, euclidean and others.",
        "guide-embeddings",
    ),
    ("normalise scores", "normalise", "score normalisation", "hubness", "CSLS"): (
        "'judged fuse' normalises the scores of runs before it adds them; 'judged embeddings "
        "--normalise' changes scores of vectors before ranking.",
        "fusion",
    ),
    ("choose K", "choosing K", "which K", "best K", "cutoff", "which measure", "which metric"): (
        "'judged advise' names the measures and cutoffs that the data can support.",
        "choosing",
    ),
    (
        *("statistical significance", "significance", "significance test", "p-value", "t-test"),
        *("confidence interval", "bootstrap", "Wilcoxon", "Tukey", "effect size", "Cohen's d"),
    ): (
        "'judged compare' tests differences; 'judged evaluate --level 0.95' adds intervals.",
        "statistics",
    ),
    ("power analysis", "statistical power", "sample size", "how many queries"): (
        "'judged plan' works out how many queries a comparison needs.",
        "statistics",
    ),
    ("regression test", "quality gate", "CI"): (
        "'judged gate' fails CI when a run is worse than its baseline.",
        "guide-ci",
    ),
    ("ties", "tied scores", "tie-breaking", "unjudged results", "missing queries"): (
        "The policy decides what they count as, such as 'judged evaluate --ties expected'.",
        "policy",
    ),
    ("inter-annotator agreement", "kappa", "Cohen's kappa", "Krippendorff's alpha"): (
        "'judged agreement' measures how far assessors agree.",
        "guide-judging",
    ),
    ("LLM judge", "LLM as a judge", "judging", "annotation", "pooling"): (
        "'judged queue' lists what to judge next, 'judged agreement' compares judges, and "
        "'judged evaluate --trusted' corrects cheap judgements.",
        "guide-judging",
    ),
    ("reranking", "reranker", "first stage", "candidate generation"): (
        "'judged funnel' finds the stage that lost relevant items.",
        "guide-rag",
    ),
    ("chunking", "chunks", "context recall", "context precision", "passages"): (
        "'judged spans' scores chunks by the evidence that they cover; 'judged conventions ragas' "
        "lists the definitions of RAGAS.",
        "guide-rag",
    ),
    ("embeddings", "nearest neighbours", "kNN", "vector search", "FAISS", "ANN"): (
        "'judged embeddings' searches exactly; 'judged embeddings --index' measures an approximate "
        "index.",
        "guide-embeddings",
    ),
    ("rank-1 accuracy", "CMC curve", "cumulative match characteristic"): (
        "Success@1 is rank-1 accuracy; 'judged plot cmc' draws Success@k for each k.",
        "charts",
    ),
    ("reciprocal rank fusion", "RRF", "rank fusion", "fusion", "hybrid search"): (
        "'judged fuse' combines runs; reciprocal rank fusion is its default.",
        "fusion",
    ),
    ("rank-biased overlap", "RBO", "Kendall's tau"): (
        "'judged overlap' measures how far runs agree.",
        "fusion",
    ),
    ("ILD", "intra-list diversity", "diversity", "novelty", "coverage", "serendipity"): (
        "Measures of diversity here need judgements by subtopic: alpha_nDCG, ERR_IA, StRecall. "
        "Those that compare the items of a list with each other are not computed.",
        "measures",
    ),
    ("faithfulness", "groundedness", "answer relevancy", "hallucination", "BLEU", "ROUGE"): (
        "judged scores what was retrieved, not the answers generated from it. 'judged measures "
        "rag' lists the measures of retrieval for generation.",
        "guide-rag",
    ),
}
"""Phrases that are not measures: a sentence about each, and its page of the documentation."""


def plain_words(text: str) -> str:
    """Return a text without case, hyphens, apostrophes and differences of British spelling.

    >>> plain_words("Normalize  Scores"), plain_words("Cohen's kappa")
    ('normalisescores', 'cohenskappa')
    """
    letters = re.sub(r"[\W_]", "", text.lower()).replace("neighbour", "neighbor")
    return re.sub(r"(?<=\w)iz(?=e|ing|ation)", "is", letters)


_TOPICS = {plain_words(phrase): topic for phrases, topic in TOPICS.items() for phrase in phrases}


def find_topic(text: str) -> tuple[str, str] | None:
    """Return what judged offers for a phrase that does not name a measure, and its page.

    >>> find_topic("confusion matrix")[1], find_topic("nDCG@10")
    ('charts', None)
    """
    return _TOPICS.get(plain_words(text))


BIBLIOGRAPHY: dict[str, str] = {
    "own": "The user. A function of ranks and grades, given to judged.measure.",
    "agrawal2009": "R. Agrawal, S. Gollapudi, A. Halverson, S. Ieong. Diversifying search results. "
    "WSDM 2009, 5-14.",
    "azzopardi2019": "L. Azzopardi, P. Thomas, A. Moffat. cwl_eval: an evaluation tool for "
    "information retrieval. SIGIR 2019, 1321-1324.",
    "azzopardi2021": "L. Azzopardi, J. Mackenzie, A. Moffat. ERR is not C/W/L: exploring the "
    "relationship between expected reciprocal rank and other metrics. ICTIR 2021, 231-237.",
    "buckley2000": "C. Buckley, E. M. Voorhees. Evaluating evaluation measure stability. SIGIR "
    "2000, 33-40.",
    "buckley2004": "C. Buckley, E. M. Voorhees. Retrieval evaluation with incomplete information. "
    "SIGIR 2004, 25-32.",
    "buckley2005": "C. Buckley, E. M. Voorhees. Retrieval system evaluation. In: TREC: "
    "Experiment and Evaluation in Information Retrieval, MIT Press, 2005, chapter 3.",
    "chapelle2009": "O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan. Expected reciprocal rank "
    "for graded relevance. CIKM 2009, 621-630.",
    "clarke2008": "C. L. A. Clarke, M. Kolla, G. V. Cormack, O. Vechtomova, A. Ashkan, S. "
    "Büttcher, I. MacKinnon. Novelty and diversity in information retrieval evaluation. SIGIR "
    "2008, 659-666.",
    "clarke2009": "C. L. A. Clarke, M. Kolla, O. Vechtomova. An effectiveness measure for "
    "ambiguous and underspecified queries. ICTIR 2009, LNCS 5766, 188-199.",
    "clarke2011": "C. L. A. Clarke, N. Craswell, I. Soboroff, A. Ashkan. A comparative analysis "
    "of cascade measures for novelty and diversity. WSDM 2011, 75-84.",
    "clarke2021": "C. L. A. Clarke, A. Vtyurina, M. D. Smucker. Assessing top-k preferences. ACM "
    "Transactions on Information Systems 39(3), 2021, article 33.",
    "craswell2009": "N. Craswell, D. Hawking. Success at n. In: Encyclopedia of Database Systems, "
    "Springer, 2009.",
    "fawcett2006": "T. Fawcett. An introduction to ROC analysis. Pattern Recognition Letters "
    "27(8), 2006, 861-874.",
    "jarvelin2002": "K. Järvelin, J. Kekäläinen. Cumulated gain-based evaluation of IR techniques. "
    "ACM Transactions on Information Systems 20(4), 2002, 422-446.",
    "manning2008": "C. D. Manning, P. Raghavan, H. Schütze. Introduction to Information Retrieval. "
    "Cambridge University Press, 2008, chapter 8.",
    "mcsherry2008": "F. McSherry, M. Najork. Computing information retrieval performance "
    "measures efficiently in the presence of tied scores. ECIR 2008, LNCS 4956, 414-421.",
    "moffat2008": "A. Moffat, J. Zobel. Rank-biased precision for measurement of retrieval "
    "effectiveness. ACM Transactions on Information Systems 27(1), 2008, article 2.",
    "moffat2012": "A. Moffat, F. Scholer, P. Thomas. Models and metrics: IR evaluation as a user "
    "process. ADCS 2012, 47-54.",
    "moffat2015": "A. Moffat, P. Bailey, F. Scholer, P. Thomas. INST: an adaptive metric for "
    "information retrieval evaluation. ADCS 2015, article 5.",
    "robertson2012": "S. Robertson. On smoothing average precision. ECIR 2012, LNCS 7224, 158-169.",
    "sakai2004": "T. Sakai. New performance metrics based on multigrade relevance: their "
    "application to question answering. NTCIR-4, 2004.",
    "trec_eval": "C. Buckley and others. trec_eval, the evaluation program of TREC, versions 9 and "
    "10.",
    "vanrijsbergen1979": "C. J. van Rijsbergen. Information Retrieval, 2nd edition. Butterworths, "
    "1979, chapter 7.",
    "voorhees1999": "E. M. Voorhees. The TREC-8 question answering track report. TREC-8, 1999, "
    "77-82.",
    "ye2021": "M. Ye, J. Shen, G. Lin, T. Xiang, L. Shao, S. C. H. Hoi. Deep learning for person "
    "re-identification: a survey and outlook. IEEE Transactions on Pattern Analysis and Machine "
    "Intelligence 44(6), 2022, 2872-2893.",
    "yilmaz2006": "E. Yilmaz, J. A. Aslam. Estimating average precision with incomplete and "
    "imperfect judgments. CIKM 2006, 102-111.",
    "zhai2003": "C. Zhai, W. W. Cohen, J. Lafferty. Beyond independent relevance: methods and "
    "evaluation metrics for subtopic retrieval. SIGIR 2003, 10-17.",
    "zhang2017": "F. Zhang, Y. Liu, X. Li, M. Zhang, Y. Xu, S. Ma. Evaluating web search with a "
    "Bejeweled player model. SIGIR 2017, 425-434.",
}


def bibtex(key: str) -> str:
    """Return a reference as an entry for BibTeX, read off its text.

    >>> print(bibtex("sakai2004"))
    @misc{sakai2004,
      author = {T. Sakai},
      title = {{New performance metrics based on multigrade relevance: their application to \
question answering}},
      howpublished = {NTCIR-4, 2004},
      year = {2004}
    }
    """
    # Authors end at the first full stop that is not behind an initial.
    authors, title, source = re.fullmatch(  # type: ignore[union-attr]
        r"(.*?\w{2,})\. (.*?)(?:\. (.*))?\.", BIBLIOGRAPHY[key]
    ).groups()
    entry = {"author": authors.replace(", ", " and "), "title": f"{{{title}}}"}
    if source:
        entry["howpublished"] = source.removeprefix("In: ")
    if years := re.findall(r"\b(?:19|20)\d\d\b", source or ""):
        entry["year"] = years[-1]
    fields = ",\n".join(f"  {name} = {{{text}}}" for name, text in entry.items())
    return f"@misc{{{key},\n{fields.replace('_', chr(92) + '_')}\n}}"


_SIGNS = {
    r"\sum": "Σ", r"\prod": "Π", r"\max": "max", r"\min": "min", r"\log": "log",
    r"\le": "≤", r"\ge": "≥", r"\in": "∈", r"\bigcup": "⋃", r"\alpha": "α",
    r"\epsilon": "ε", r"\left": "", r"\right": "",
    r"\cap": "∩", r"\beta": "β", r"\{": "{", r"\}": "}", r"\,": " ", r"\quad": " ", r"\ ": " ",
    r"\cdot": "·", r"\infty": "∞",
}  # fmt: skip
_BRACES = r"\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}"


def readable(latex: str) -> str:
    r"""Return a formula without LaTeX.

    >>> readable(r"\frac{1}{k}\sum_{i\le k}[g_i \ge rel]")
    '1/k Σ_(i≤k) [g_i ≥ rel]'
    """
    text = latex.replace(r"\{", "⦃").replace(r"\}", "⦄")
    fraction = re.compile(r"\\frac" + _BRACES + _BRACES)
    while match := fraction.search(text):
        top, bottom = (_grouped(part) for part in match.groups())
        text = f"{text[: match.start()]}{top}/{bottom} {text[match.end() :]}"
    text = re.sub(r"([_^])" + _BRACES, lambda match: f"{match[1]}({match[2]}) ", text)
    for sign in sorted(_SIGNS, key=len, reverse=True):
        text = text.replace(sign, _SIGNS[sign])
    text = text.replace("⦃", "{").replace("⦄", "}")
    text = re.sub(r"\s+", " ", text)
    return re.sub(r" ([,)\]])", r"\1", re.sub(r"(?<=[(i])\s?([≤≥])\s(?=k\))", r"\1", text)).strip()


def _grouped(part: str) -> str:
    return part if re.fullmatch(r"[\w@]+", part) else f"({part})"
