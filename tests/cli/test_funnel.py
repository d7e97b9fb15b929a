"""`judged funnel`."""


def test_stages_and_limits(judged, write):
    write("q.txt", "1 0 a 1\n1 0 b 1\n")
    write("first.run", "1 Q0 a 1 2 r\n1 Q0 b 2 1 r\n")
    write("last.run", "1 Q0 b 1 2 r\n1 Q0 a 2 1 r\n")
    shown = judged("funnel q.txt first.run last.run -k 1")
    assert shown.code == 0
    assert shown.out.startswith("1 of 2 relevant items (50.0 %) is in the top 1 of last.\n")
    failed = judged("funnel q.txt first.run last.run -k 1 --max-loss last=0.1")
    assert failed.code == 1
    first, *_ = failed.out.splitlines()
    assert first == "FAILED: last lost 50.0 % of the relevant items (allowed: 10 %)."
    assert judged("funnel q.txt first.run last.run -k 1 --max-loss 0.5").code == 0
    assert judged("funnel q.txt first.run").code == 2
