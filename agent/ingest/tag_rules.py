"""Words that give documents a tag, where somebody asks for it."""

from __future__ import annotations

from collections.abc import Mapping

from schemas.errors import SettingsError

BUILTIN = "builtin"
"""The name that the table below goes by in settings and schema files. Nothing is tagged by it
unless it is named: its tags are one house's taste.
"""

TABLE: Mapping[str, tuple[str, ...]] = {
    "故障处理": ("故障", "排错", "报错", "异常处理", "troubleshoot", "incident", "outage"),
    "安装指南": ("安装", "部署", "install", "deployment guide", "getting started"),
    "API参考": ("api", "接口文档", "接口说明", "接口参考", "sdk reference"),
    "版本升级": ("升级", "版本迁移", "upgrade", "migration guide"),
    "发布说明": ("发布说明", "更新日志", "版本说明", "release notes", "changelog"),
    "操作手册": (
        "操作手册",
        "使用手册",
        "用户手册",
        "user manual",
        "user guide",
        "operating manual",
    ),
    "配置说明": ("配置说明", "参数配置", "configuration", "settings reference"),
    "安全": ("安全", "漏洞", "security", "vulnerability"),
    "常见问题": ("常见问题", "faq", "frequently asked"),
}


def rules_of(given: str | Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
    """Rules as they are, or those that a name stands for; SettingsError for another name."""
    if not isinstance(given, str):
        return given
    if given not in ("", BUILTIN):
        raise SettingsError(f"tag_rules is {given!r}; allowed: {BUILTIN}, or words by tag")
    return TABLE if given else {}
