"""The group's files: small and strict; strangers' files do no harm; the table says who is stuck where."""

import json
import re
import sys
from datetime import date

import pytest

from attnlib import desk, group, solved, teaching
from attnlib.desk import DeskError
from attnlib.exercises import all_exercises
from attnlib.exercises.messages import text_of
from attnlib.group import FileError, Group, gather, read_member


def entry(done=False, tries=1, **mistakes):
    return {
        "solved": done,
        "tries": tries,
        "mistakes": {name.replace("_", "-"): n for name, n in mistakes.items()},
    }


def told(nickname="Mina", day="2026-11-18", version=1, **exercises):
    names = {name.replace("_", "-").removeprefix("e"): found for name, found in exercises.items()}
    return {"format": group.FORMAT, "version": version, "nickname": nickname, "day": day, "exercises": names}


def drop(folder, name, data):
    (folder / name).write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())


# --- the file of a member -----------------------------------------------------------------------------


def test_an_export_says_what_was_solved_and_nothing_else(tmp_path):
    solved.record(tmp_path, "05-softmax-rows", solved=False, mistake="wrong-axis")
    solved.record(tmp_path, "05-softmax-rows", solved=False, mistake="no longer known")
    solved.record(tmp_path, "05-softmax-rows", solved=True)
    solved.record(tmp_path, "05-hunt", solved=False)
    solved.record(tmp_path, "no longer an exercise", solved=True)
    path = group.export(tmp_path, "Mina Kim")
    assert path == tmp_path / "group-Mina-Kim.json"
    assert json.loads(path.read_bytes()) == {
        "format": "attnlib-group",
        "version": 1,
        "nickname": "Mina Kim",
        "day": f"{date.today()}",
        "exercises": {
            "05-softmax-rows": {"solved": True, "tries": 3, "mistakes": {"wrong-axis": 1}},
            "05-hunt": {"solved": False, "tries": 1, "mistakes": {}},
        },
    }
    text = path.read_text(encoding="utf-8")
    assert str(tmp_path) not in text
    assert not re.search(r"\d\d:\d\d", text)  # no time of day
    member = read_member(path.read_bytes())
    assert (member.nickname, member.exercises["05-hunt"].solved) == ("Mina Kim", None)
    assert member.exercises["05-softmax-rows"].mistakes == {"wrong-axis": 1}


def test_an_export_replaces_only_an_export(tmp_path):
    path = group.export(tmp_path, "Mina")
    solved.record(tmp_path, "05-hunt", solved=True)
    assert group.export(tmp_path, "Mina") == path
    assert read_member(path.read_bytes()).done(["05-hunt"]) == 1
    path.write_text("my own notes")
    with pytest.raises(DeskError, match=r"lies where your file should be, and is no such file: move it away\.$"):
        group.export(tmp_path, "Mina")
    assert path.read_text() == "my own notes"


def test_an_export_that_cannot_be_written_says_why(tmp_path):
    (tmp_path / "group-Mina.json").mkdir()
    with pytest.raises(DeskError, match=r"^Your file could not be written: a file lies where a folder"):
        group.export(tmp_path, "Mina")


@pytest.mark.parametrize("nickname", ["Mina", "민아", "নীলা", "Z 2", "a.b-c_d", "É" * 30])
def test_good_nicknames(nickname, tmp_path):
    assert group.check_nickname(f" {nickname} ") == nickname
    drop(tmp_path, "a.json", told(nickname))
    assert gather(tmp_path).members[0].nickname == nickname


@pytest.mark.parametrize(
    "nickname",
    [
        "",
        " ",
        "a" * 31,
        "<b>",
        "a/b",
        "..",
        "-x",
        "a\x1b[31m",
        "a\nb",
        "a\u202eb",
        "$x$",
        "a\x00",
        5,
        None,
        ["a"],
        "\u0301",
    ],
)
def test_bad_nicknames(nickname, tmp_path):
    with pytest.raises(
        DeskError, match=r"^A nickname has 1 to 30 letters, digits, spaces, dots or dashes, not "
    ) as error:
        group.check_nickname(nickname)
    assert str(error.value).isprintable()
    drop(tmp_path, "a.json", told(nickname))
    assert gather(tmp_path).members == ()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is no member's file of at most 200 kB"),
        (b"\xff\xfe", "is no member's file of at most 200 kB"),
        (b"[" * 100_000, "is no member's file of at most 200 kB"),
        (b"[]", "is no member's file of at most 200 kB"),
        (b" " * 200_000 + b"{}", "is no member's file of at most 200 kB"),
        ({}, "is no member's file: python -m attnlib status --export makes one"),
        (told(version="1"), "is no member's file: python -m attnlib status --export makes one"),
        (told(version=True), "is no member's file: python -m attnlib status --export makes one"),
        (told(version=0), "is no member's file: python -m attnlib status --export makes one"),
        ({**told(), "format": "other"}, "is no member's file: python -m attnlib status --export makes one"),
        (told(version=2), "was made by a newer version of the course: update yours"),
        (
            told("<b>"),
            "has no nickname (A nickname has 1 to 30 letters, digits, spaces, dots or dashes, not '<b>')",
        ),
        (told(day="yesterday"), "has no day such as 2026-11-18"),
        (told(day="2026-99-99"), "has no day such as 2026-11-18"),
        (told(day=5), "has no day such as 2026-11-18"),
        ({**told(), "exercises": []}, "has no list of at most 500 exercises"),
        ({**told(), "exercises": {str(n): entry() for n in range(501)}}, "has no list of at most 500 exercises"),
        (told(e05_hunt=5), "has an exercise without solved, tries and mistakes"),
        (told(e05_hunt={**entry(), "solved": 1}), "has an exercise without solved, tries and mistakes"),
        (told(e05_hunt=entry(tries=-1)), "has an exercise without solved, tries and mistakes"),
        (told(e05_hunt=entry(tries=10**12)), "has an exercise without solved, tries and mistakes"),
        (told(e05_hunt={**entry(), "mistakes": []}), "has an exercise without solved, tries and mistakes"),
        (told(e05_hunt=entry(a="many")), "has an exercise without solved, tries and mistakes"),
        (
            told(e05_hunt=entry(**{f"m{n}": 1 for n in range(501)})),
            "has an exercise without solved, tries and mistakes",
        ),
    ],
)
def test_a_broken_file_is_named_in_a_sentence_and_left_out(data, why, tmp_path):
    drop(tmp_path, "good.json", told("Good"))
    drop(tmp_path, "bad.json", data)
    found = gather(tmp_path)
    assert [member.nickname for member in found.members] == ["Good"]
    assert len(found.sentences) == 1
    assert found.sentences[0].startswith(f"bad.json was left out: it {why}")
    with pytest.raises(FileError):
        read_member((tmp_path / "bad.json").read_bytes())


def test_what_the_course_does_not_know_is_left_out():
    member = read_member(json.dumps(told(e05_hunt=entry(**{"1": 2, "unknown": 3}), e99_new=entry())).encode())
    assert dict(member.exercises) == {"05-hunt": solved.Exercise(None, 1, {"1": 2})}


# --- the group ----------------------------------------------------------------------------------------


def test_of_two_files_with_one_nickname_the_newer_counts(tmp_path):
    drop(tmp_path, "1.json", told("mina", "2026-11-18", e05_hunt=entry(True)))
    drop(tmp_path, "2.json", told("Mina", "2026-11-11"))
    drop(tmp_path, "3.json", told("Mina", "2026-11-18", e05_hunt=entry(True, tries=7)))
    found = gather(tmp_path)
    assert [(member.nickname, member.exercises["05-hunt"].tries) for member in found.members] == [("Mina", 7)]
    assert found.sentences == ("There are two files of Mina: the newer one counts.",) * 2


def test_only_files_of_the_folder_itself_are_read_and_not_too_many(tmp_path, monkeypatch):
    drop(tmp_path, "a.json", told("A"))
    drop(tmp_path, "b.JSON", told("B"))
    drop(tmp_path, "c.txt", told("C"))
    (tmp_path / "d.json").mkdir()
    assert [member.nickname for member in gather(tmp_path).members] == ["A", "B"]
    monkeypatch.setattr(group, "MOST_FILES", 1)
    found = gather(tmp_path)
    assert ([member.nickname for member in found.members], found.sentences) == (
        ["A"],
        ("Only the first 1 files were read.",),
    )


def test_no_folder_and_no_files_are_one_sentence(tmp_path):
    with pytest.raises(
        DeskError, match=r"^There is no member's file in .*: put the members' files there \(python -m"
    ):
        gather(tmp_path)
    with pytest.raises(DeskError, match=r"^The folder of the group could not be read: .*none is not there\.$"):
        gather(tmp_path / "none")


def test_a_file_that_vanishes_or_fails_is_left_out(tmp_path, monkeypatch):
    drop(tmp_path, "a.json", told("A"))

    def fail(path, limit):
        raise PermissionError(13, "no", str(path))

    monkeypatch.setattr(desk, "read", fail)
    assert re.fullmatch(r"a\.json was left out: this computer does not allow .*\.", gather(tmp_path).sentences[0])


@pytest.fixture
def friends(tmp_path):
    done, axis = entry(True), entry(False, 4, wrong_axis=3)
    drop(tmp_path, "1.json", told("민아", e05_softmax_rows=axis, e05_hunt=done, e01_lookup=done))
    drop(tmp_path, "2.json", told("Bo", e05_softmax_rows=axis, e05_shift=entry(False, 2)))
    drop(
        tmp_path,
        "3.json",
        told("Al", e05_softmax_rows=entry(True, 2, wrong_axis=1), e01_lookup=entry(True, 3, columns=2)),
    )
    drop(tmp_path, "4.json", told("Cy", e01_lookup=entry(True, 2, columns=1)))
    return gather(tmp_path)


def test_the_table_shows_who_is_stuck_where(friends):
    lines = repr(friends).splitlines()
    assert lines[:7] == [
        "      01   05",
        "Al    1/6  1/7",
        "Bo    0/6  0/7 !2",
        "Cy    1/6  0/7",
        "민아  1/6  1/7 !1",
        "(solved of all; !2 = tried two without solving them)",
        "",
    ]


def test_what_to_talk_about_is_sorted_and_has_the_teachers_words(friends):
    points = friends.points()
    assert [(point.exercise, list(point.stuck), point.mistake, point.made_by) for point in points] == [
        ("05-softmax-rows", ["Bo", "민아"], "wrong-axis", 3),
        ("05-shift", ["Bo"], "", 0),
        ("01-lookup", [], "columns", 2),
    ]
    assert points[0].say == teaching.words("05-softmax-rows", "wrong-axis")
    assert points[1].say == text_of("05-shift", "hints")[0]
    talk = repr(friends).splitlines()[7:]
    assert talk[0] == "What to talk about:"
    assert talk[1] == f"05-softmax-rows (stuck: Bo, 민아; most often wrong-axis, by 3): {points[0].say}"
    assert talk[2].startswith("05-shift (stuck: Bo): ")
    assert talk[3].startswith("01-lookup (solved by all who tried; most often columns, by 2): ")


def test_where_the_book_is_silent_the_check_speaks(friends, monkeypatch):
    monkeypatch.setattr(teaching, "words", lambda *_: "")
    assert friends.points()[0].say == text_of("05-softmax-rows", "mistakes", "wrong-axis")


def test_nobody_is_stuck(tmp_path):
    drop(tmp_path, "1.json", told("Al", e05_hunt=entry(True)))
    found = gather(tmp_path)
    assert repr(found).endswith("\nNobody is stuck.")
    assert "<li>Nobody is stuck.</li>" in found._repr_html_()


def test_the_page_is_a_heat_map_in_plain_html(friends, tmp_path):
    path = group.write_page(friends, tmp_path)
    text = path.read_text(encoding="utf-8")
    assert text.startswith(group.MARK)
    assert not re.search(r"<script|https?:|//|src=|url\(", text)
    cells = re.findall(r'<td style="background:(#\w+);color:#000;border:(\dpx) [^"]*">([^<]*)</td>', text)
    assert [value for _, _, value in cells] == ["1/6", "1/7", "0/6", "0/7 !2", "1/6", "0/7", "1/6", "1/7 !1"]
    assert {edge for _, edge, value in cells if "!" in value} == {"3px"}
    assert {edge for _, edge, value in cells if "!" not in value} == {"1px"}
    assert {ground for ground, _, value in cells if value.startswith("0")} == {"#ffffff"}
    assert '<th scope="col" title="Softmax">05</th>' in text
    assert 'padding:4px 10px">민아</th>' in text
    assert "<li>05-softmax-rows (stuck: Bo, 민아; most often wrong-axis, by 3): " in text
    again = Group(friends.members, ("<script>alert(1)</script> was left out.",))
    assert "&lt;script&gt;alert(1)" in again.page()
    assert group.write_page(again, tmp_path) == path


def test_every_shade_can_be_read():
    from attnlib.pictures import contrast

    assert min(contrast(colour, "black") for _, colour in group.SHADES) > 7


def test_another_file_of_that_name_is_never_replaced(friends, tmp_path):
    (tmp_path / "group.html").write_text("mine")
    with pytest.raises(DeskError, match=r"group\.html is not a page of the group: move it away"):
        group.write_page(friends, tmp_path)
    assert (tmp_path / "group.html").read_text() == "mine"
    (tmp_path / "group.html").unlink()
    (tmp_path / "group.html").mkdir()
    with pytest.raises(DeskError, match=r"^The page of the group could not be written: a file lies"):
        group.write_page(friends, tmp_path)


def test_a_file_name_with_control_signs_is_shown_harmlessly(tmp_path):
    if sys.platform == "win32":
        pytest.skip("such a name cannot exist here")
    drop(tmp_path, "a\x1b[31m.json", b"")
    assert gather(tmp_path).sentences == (
        r"a\x1b[31m.json was left out: it is no member's file of at most 200 kB.",
    )


def test_the_registry_has_a_sentence_for_every_mistake_that_can_be_told():
    for name, exercise in all_exercises().items():
        assert all(text_of(name, "mistakes", mistake) for mistake in exercise.mistakes)
