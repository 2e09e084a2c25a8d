"""What other programs and people call the columns of a list."""

import re
import unicodedata
from collections.abc import Mapping, Sequence

from digest.domain.errors import BadInputError, shown

_SPELLINGS = {
    "email": "email emailaddress mail mailaddress emailid subscriberemail useremail contactemail correo courriel"
    " 邮箱 邮箱地址 电子邮箱 电子邮箱地址 电子邮件 电子邮件地址 邮件 邮件地址"
    " email地址 電子郵件 電子郵件地址 電郵 信箱 電子信箱",
    "name": "name fullname displayname subscribername nickname 姓名 名字 名称 昵称 称呼 名稱 暱稱",
    "first_name": "firstname givenname forename fname 名",
    "last_name": "lastname surname familyname lname 姓",
    "language": "language lang locale preferredlanguage 语言 语种 語言",
    "timezone": "timezone tz zone 时区 時區",
    "time": "time sendtime localtime deliverytime 时间 发送时间 時間",
    "weekdays": "weekdays days weekday 星期 发送日 星期几",
    "topics": "topics topic 主题 话题 栏目 主題",
    "status": "status state subscriptionstatus 状态 狀態 订阅状态",
    "reason": "reason endreason 原因 退订原因",
    "consent_source": "consentsource consent optinsource signupsource subscriptionsource 同意来源 订阅来源 来源",
    "consent_at": "consentat consentdate optintime optindate confirmedat confirmtime 同意时间 订阅时间",
    "consent_wording": "consentwording",
    "paused_until": "pauseduntil 暂停至",
    "suppressed": "suppressed suppression",
    "left_at": "unsubtime unsubscribedat unsubscribedate unsubscriptiondate optouttime optoutdate 退订时间 退订日期",
}
_COLUMNS = {spelling: column for column, line in _SPELLINGS.items() for spelling in line.split()}
KNOWN = frozenset(_SPELLINGS)
_NOISE = re.compile(r"[\W_]+")


def plain(heading: str) -> str:
    """A heading without what people add to it: case, blanks, hyphens, full-width forms."""
    return _NOISE.sub("", unicodedata.normalize("NFKC", heading).casefold())


def columns_of(heading: Sequence[str], chosen: Mapping[str, str]) -> tuple[str, ...]:
    """Our name of each column, empty for one that is passed over. Of two of one name the first counts.

    Args:
        heading: the file's first line.
        chosen: our name -> the file's heading, where the operator says which it is.

    Raises:
        BadInputError: a column was chosen that we or the file don't have.
    """
    columns = [_COLUMNS.get(plain(one), "") for one in heading]
    for column, name in chosen.items():
        at = _place(heading, column, name)
        columns = ["" if one == column else one for one in columns]
        columns[at] = column
    return tuple("" if one in columns[:at] else one for at, one in enumerate(columns))


def _place(heading: Sequence[str], column: str, name: str) -> int:
    if column not in KNOWN:
        raise BadInputError("column", column, f"is not a column of ours: {', '.join(sorted(KNOWN))}.")
    wanted = plain(name)
    for at, one in enumerate(heading):
        if plain(one) == wanted:
            return at
    raise BadInputError("column", name, f"is not in the file, which has {told(heading)}.")


def told(heading: Sequence[str]) -> str:
    """The file's headings for a message, short."""
    return ", ".join(shown(one.strip(), 30) for one in heading[:12]) + (" and more" if len(heading) > 12 else "")  # noqa: PLR2004 - as many as one reads
