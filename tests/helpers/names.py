"""Names of robots and problems that would end a comment or a string of C, and what follows would be code."""

from __future__ import annotations

_CODE = '__attribute__((constructor)) static void own(void) { __builtin_printf("CODE RAN"); }'
SPLICES = [
    f"arm{before} {_CODE} {after}"
    for before, after in (
        ("*/", "/*"),
        ("*\\\n/", "/\\\n*"),
        ("*\\ \n/", "/\\ \n*"),
        ("*\\\t\r\n/", "/\\\t\r\n*"),
        ("*??/\n/", "/??/\n*"),
        ("*\\\u2028\n/", "/\\\n*"),
        ('";*/', '/*"'),
        ("\n*/", "/*\n"),
    )
]
