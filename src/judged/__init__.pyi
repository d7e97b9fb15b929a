"""Written by docs/reference.py from __init__.py and the registry of measures."""

from judged.comparison.comparison import Comparison as Comparison
from judged.embeddings.embeddings import Embeddings as Embeddings
from judged.evaluation.evaluation import Evaluation as Evaluation
from judged.evaluation.evaluate import Evaluator as Evaluator
from judged.errors import JudgedError as JudgedError
from judged.errors import JudgedWarning as JudgedWarning
from judged.measures import Measure as Measure
from judged.policy import Policy as Policy
from judged.rankings.rankings import Rankings as Rankings
from judged.inputs.vectors import Vectors as Vectors
from judged.evaluation.advice import advise as advise
from judged.judgements.agreement import agreement as agreement
from judged import charts as charts
from judged.judgements.check import check as check
from judged.comparison import compare as compare
from judged.conventions.disagreement import compare_conventions as compare_conventions
from judged.comparison import compare_values as compare_values
from judged.configuration import config as config
from judged import conventions as conventions
from judged import engines as engines
from judged import errors as errors
from judged.evaluation.evaluate import evaluate as evaluate
from judged.embeddings import evaluate_embeddings as evaluate_embeddings
from judged.comparison.benchmark import evaluate_many as evaluate_many
from judged.inputs.retriever import evaluate_retriever as evaluate_retriever
from judged.evaluation.evaluate import evaluate_scores as evaluate_scores
from judged.runs.spans import evaluate_spans as evaluate_spans
from judged.explanation.question import explain as explain
from judged.runs.funnel import funnel as funnel
from judged.runs.fusion import fuse as fuse
from judged.comparison.gate import gate as gate
from judged.conventions.identification import identify as identify
from judged.learning import learn as learn
from judged.measures.own import measure as measure
from judged.judgements.merge import merge_judgements as merge_judgements
from judged import options as options
from judged.runs.overlap import overlap as overlap
from judged.comparison.plan import plan as plan
from judged.judgements.queue import queue as queue
from judged.inputs import read_judgements as read_judgements
from judged.rankings.file import read_rankings as read_rankings
from judged.inputs import read_run as read_run
from judged.inputs.vectors import read_vectors as read_vectors
from judged.embeddings import relevance as relevance
from judged.inputs.repeated import repeats as repeats
from judged.web.report.report import report as report
from judged import results as results
from judged import statistics as statistics
from judged.learning import temperature as temperature

__version__: str
P: Measure
Rprec: Measure
Success: Measure
R: Measure
F: Measure
AP: Measure
IPrec: Measure
IAP: Measure
YAAP: Measure
PrecAtRecall: Measure
RecallAtPrec: Measure
RankAUC: Measure
RR: Measure
Rank: Measure
INP: Measure
DCG: Measure
nDCG: Measure
IdealDCG: Measure
G: Measure
binG: Measure
nDCGRel: Measure
RnDCG: Measure
Q: Measure
RBP: Measure
ERR: Measure
SDCG: Measure
INSQ: Measure
INST: Measure
BPM: Measure
NERR8: Measure
NERR9: Measure
NERR10: Measure
NERR11: Measure
Compat: Measure
SetAP: Measure
Utility: Measure
FallOut: Measure
TP: Measure
FP: Measure
FN: Measure
TN: Measure
Accuracy: Measure
Specificity: Measure
NumRet: Measure
NumRel: Measure
NumRelRet: Measure
NumNonrelRet: Measure
NumQ: Measure
Bpref: Measure
infAP: Measure
Judged: Measure
Unjudged: Measure
RBPResidual: Measure
alpha_DCG: Measure
alpha_nDCG: Measure
ERR_IA: Measure
nERR_IA: Measure
NRBP: Measure
nNRBP: Measure
AP_IA: Measure
P_IA: Measure
StRecall: Measure
