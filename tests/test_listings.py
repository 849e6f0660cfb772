"""Which questions a filter answers alone, and which have something left to search for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.collection import Collection, Field, FieldType
from schemas.listing import Listing, ListingKind, Sort
from tests.planning_cases import HANDBOOK, plan

LIST = Listing()
COUNT = Listing(kind=ListingKind.COUNT)
NEWEST = Sort(field="published")
OLDEST = Sort(field="published", descending=False)
TITLE = Sort(field="title", descending=False)
LONGEST = Sort(field="pages")


def newest(limit: int | None = None) -> Listing:
    return Listing(sort=NEWEST, limit=limit)


def longest(limit: int | None = None) -> Listing:
    return Listing(sort=LONGEST, limit=limit)


def by(field: str, **more: object) -> Listing:
    return Listing(kind=ListingKind.GROUP, group=field).model_copy(update=more)


@pytest.mark.parametrize(
    ("question", "listing"),
    [
        ("list all HR documents of 2023", LIST),
        ("Which HR policies are there?", LIST),
        ("which policies did Finance publish in 2024", LIST),
        ("What did Guido van Rossum write?", LIST),
        ("What was published before 2022?", LIST),
        ("Show me HR policies since 2024", LIST),
        ("are there any drafts without a department?", LIST),
        ("is there a Finance policy since 2024?", LIST),
        ("list all documents about travel", LIST),
        ("name all final guides", LIST),
        ("Drafts published before 2022", LIST),
        ("HR policies since 2024", LIST),
        ("which guides have more than 20 pages?", LIST),
        ("how many guides did Ada Lovelace write?", COUNT),
        ("how many documents are there?", COUNT),
        ("count the minutes of 2024 in Legal", COUNT),
        ("What is the number of drafts?", COUNT),
        ("the newest document", newest(1)),
        ("What is the newest HR policy?", newest(1)),
        ("what are the latest documents", newest()),
        ("latest 3 policies", newest(3)),
        ("the 3 newest final guides", newest(3)),
        ("five newest documents", newest(5)),
        ("newest first: all Finance documents", newest()),
        ("the oldest HR policy", Listing(sort=OLDEST, limit=1)),
        ("the top 5 documents by pages", longest(5)),
        ("list the documents alphabetically", Listing(sort=TITLE)),
        ("HR documents in alphabetical order", Listing(sort=TITLE)),
        (
            "list all documents alphabetically by department",
            Listing(sort=Sort(field="department", descending=False)),
        ),
        ("top 3 departments by number of documents", by("department", sort=Sort(), limit=3)),
        (
            "the bottom two categories by number of documents",
            by("category", sort=Sort(descending=False), limit=2),
        ),
        ("the longest document", longest(1)),
        ("the longest documents", longest()),
        ("the document with the most pages", longest(1)),
        ("the 2 guides with the most pages", longest(2)),
        (
            "show drafts sorted by pages, ascending",
            Listing(sort=Sort(field="pages", descending=False)),
        ),
        ("how many documents per department", by("department")),
        ("How many documents does each author have?", by("authors")),
        ("how many documents are there in each category?", by("category")),
        ("how many documents per year?", by("published", unit="year")),
        ("which departments are there?", by("department")),
        ("How many HR and Finance documents are there respectively?", by("department")),
        ("Which authors wrote guides?", by("authors")),
        ("which department has most documents", by("department", sort=Sort(), limit=1)),
        (
            "which author wrote the fewest guides?",
            by("authors", sort=Sort(descending=False), limit=1),
        ),
        ("who wrote the most documents?", by("authors", sort=Sort(), limit=1)),
        (
            "Which month has the most documents?",
            by("published", unit="month", sort=Sort(), limit=1),
        ),
    ],
)
def test_english_listings(question: str, listing: Listing) -> None:
    assert plan(question).listing == listing


@pytest.mark.parametrize(
    ("question", "listing"),
    [
        ("列出2023年HR的所有文档", LIST),
        ("HR有哪些制度？", LIST),
        ("研发中心2023年发布了哪些文档", LIST),
        ("请列出所有草案", LIST),
        ("除了HR以外的文档有哪些", LIST),
        ("去年发布的会议纪要有哪些", LIST),
        ("2022年以前发布的文档", LIST),
        ("有多少份草案", COUNT),
        ("一共有多少篇文档", COUNT),
        ("市场部去年有几份终稿？", COUNT),
        ("最新的文档是哪一份？", newest(1)),
        ("最新的三份制度", newest(3)),
        ("2024年最早发布的制度", Listing(sort=OLDEST, limit=1)),
        ("页数最多的文档", longest(1)),
        ("最长的三份文档", longest(3)),
        ("按页数从多到少列出HR的文档", longest()),
        ("按页数升序列出HR的文档", Listing(sort=Sort(field="pages", descending=False))),
        ("各部门有多少文档？", by("department")),
        ("按部门统计文档数量", by("department")),
        ("每年发布多少文档", by("published", unit="year")),
        ("有哪些部门？", by("department")),
        ("HR和市场部各有多少文档", by("department")),
        ("哪个部门的文档最多？", by("department", sort=Sort(), limit=1)),
        ("哪一年的文档最少", by("published", unit="year", sort=Sort(descending=False), limit=1)),
        ("谁写的文档最多", by("authors", sort=Sort(), limit=1)),
    ],
)
def test_chinese_listings(question: str, listing: Listing) -> None:
    assert plan(question).listing == listing


@pytest.mark.parametrize(
    "question",
    [
        "list all documents about travel expenses",
        "What does the HR policy say about remote work?",
        "What is the newest HR policy about?",
        "Tell me about HR policies",
        "Show me the HR policy of 2023",
        "When was the latest HR policy published?",
        "who wrote the HR policy?",
        "how many pages does the HR policy have?",
        "how many employees does HR have?",
        "how many days of leave per year do HR policies grant?",
        "Are all HR policies official?",
        "Which HR policy allows remote work?",
        "the most important HR policies",
        "列出关于差旅报销流程的文档",
        "HR的制度怎么规定远程办公",
        "采集服务启动失败时先做什么",
        "HR的休假天数是多少",
        "研发中心2024年的文档里，启动失败时应该先做什么？",
        "thanks",
    ],
)
def test_what_has_to_be_searched_for(question: str) -> None:
    assert plan(question).listing is None


def test_a_word_that_sets_no_condition_is_searched_for() -> None:
    assert plan("list all HR drafts").listing == LIST
    assert plan("list all HR drafts", {"drafts": "ignore"}).listing is None


def test_a_count_goes_on_from_a_listing_but_not_from_a_search() -> None:
    assert plan("How many of them are final?", history=("guides by Guido van Rossum",)).listing == (
        COUNT
    )
    searched = ("guides by Guido van Rossum about packaging wheels",)
    assert plan("How many of them are final?", history=searched).listing is None
    assert plan("How many are there?", history=("what is a per diem?",)).listing is None


@pytest.mark.parametrize(
    ("before", "question"),
    [
        ("list all HR documents of 2024", "and of 2023?"),
        ("list all documents of 2024", "and in 2023?"),
        ("列出HR 2024年的文档", "那2023年的呢？"),
    ],
)
def test_a_listing_goes_on_where_a_follow_up_sets_a_period_anew(before: str, question: str) -> None:
    proposal = plan(question, history=(before,))
    days = {c.value for c in proposal.conditions if c.field == "published"}
    assert days == {"2023-01-01", "2024-01-01"}
    assert proposal.listing == LIST


def test_what_was_searched_for_is_no_listing_in_another_year_either() -> None:
    searched = ("HR documents of 2024 about packaging wheels",)
    assert plan("and of 2023?", history=searched).listing is None


def test_the_collection_says_what_its_documents_are_called() -> None:
    films = Collection(
        name="movies",
        fields=(
            Field(name="genre", type=FieldType.STRING, values=("drama", "comedy")),
            Field(name="year", type=FieldType.INT),
        ),
    )
    assert plan("how many movies are there?", collection=films).listing == COUNT
    assert plan("how many cities are there?", collection=films).listing is None
    assert plan("the newest movie", collection=films).listing == Listing(
        sort=Sort(field="year"), limit=1
    )


def test_several_days_leave_open_which_is_newest() -> None:
    fields = (
        Field(name="starts", type=FieldType.DATE),
        Field(name="ends", type=FieldType.DATE),
    )
    both = HANDBOOK.model_copy(update={"fields": fields})
    assert plan("the newest document", collection=both).listing is None


WORDS: tuple[str, ...] = (
    "HR",
    "drafts",
    "list",
    "all",
    "how many",
    "newest",
    "per",
    "department",
    "by",
    "2023",
)
WORDS += (
    "the",
    "most",
    "pages",
    "first",
    "3",
    "有多少",
    "哪些",
    "最新的",
    "部门",
    "文档",
    "各",
    "按",
)


@given(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join))
@settings(max_examples=200, deadline=None)
def test_a_listing_names_fields_of_the_collection_only(question: str) -> None:
    found = plan(question).listing
    if found is None:
        return
    named = {found.group, found.sort.field if found.sort else None} - {None}
    assert named <= set(HANDBOOK.by_name)
    assert (found.kind is ListingKind.GROUP) == (found.group is not None)
    assert found.limit is None or found.limit > 0
