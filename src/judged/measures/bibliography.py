"""Where definitions come from: the keys that measures name as their reference."""

BIBLIOGRAPHY: dict[str, str] = {
    "buckley2000": "C. Buckley, E. M. Voorhees. Evaluating evaluation measure stability. SIGIR 2000, 33-40.",
    "buckley2004": "C. Buckley, E. M. Voorhees. Retrieval evaluation with incomplete information. SIGIR 2004, 25-32.",
    "buckley2005": "C. Buckley, E. M. Voorhees. Retrieval system evaluation. In: TREC: Experiment and Evaluation in "
    "Information Retrieval, MIT Press, 2005, chapter 3.",
    "chapelle2009": "O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan. Expected reciprocal rank for graded relevance. "
    "CIKM 2009, 621-630.",
    "craswell2009": "N. Craswell, D. Hawking. Success at n. In: Encyclopedia of Database Systems, Springer, 2009.",
    "jarvelin2002": "K. Järvelin, J. Kekäläinen. Cumulated gain-based evaluation of IR techniques. "
    "ACM Transactions on Information Systems 20(4), 2002, 422-446.",
    "manning2008": "C. D. Manning, P. Raghavan, H. Schütze. Introduction to Information Retrieval. "
    "Cambridge University Press, 2008, chapter 8.",
    "moffat2008": "A. Moffat, J. Zobel. Rank-biased precision for measurement of retrieval effectiveness. "
    "ACM Transactions on Information Systems 27(1), 2008, article 2.",
    "vanrijsbergen1979": "C. J. van Rijsbergen. Information Retrieval, 2nd edition. Butterworths, 1979, chapter 7.",
    "voorhees1999": "E. M. Voorhees. The TREC-8 question answering track report. TREC-8, 1999, 77-82.",
}
