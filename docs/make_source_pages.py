"""The derived formulas on the pages of the sources, ``docs/sources``.

    python docs/make_source_pages.py

Writes what stands between ``<!-- derived: NAME -->`` and ``<!-- end -->``. Where a source's result is given here as a
formula, its difference from the derived one is zero in unique form, or no page is written.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sympy

import gdalembert as gd
import gdalembert.symbolic as gs
from gdalembert.export.latex import Printer, equations

FOLDER = Path(__file__).parent / "sources"
SHORTHAND = re.compile(r"([sc])_(\d+|beta)")
REGION = re.compile(r"(<!-- derived: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
Blocks = Mapping[str, str]


def main() -> None:
    for name, blocks in PAGES.items():
        page = FOLDER / f"{name}.md"
        page.write_text(written(page.read_text(encoding="utf-8"), blocks()), encoding="utf-8")


def written(page: str, blocks: Blocks) -> str:
    """The page with its derived formulas.

    Raises:
        SystemExit: if a block has no place on the page, or a place no block.
    """
    places = [name for _, name, _ in REGION.findall(page)]
    if sorted(places) != sorted(blocks):
        sys.exit(f"docs/sources: places {sorted(places)} for {sorted(blocks)}; give each block one place on its page")
    return REGION.sub(lambda found: f"{found[1]}{blocks[found[2]]}\n{found[3]}", page)


# Formulas


def beside(derived: Mapping[str, Any], printed: Mapping[str, str], heading: str = "Printed, corrected") -> str:
    """What is printed above what is derived; names are in LaTeX.

    Raises:
        SystemExit: if they are not the same.
    """
    if derived.keys() != printed.keys():
        sys.exit(f"docs/sources: {[*printed]} are printed and {[*derived]} derived; give the same ones")
    for name, result in derived.items():
        if result != long_hand(gs.formula(printed[name])):
            sys.exit(f"docs/sources: {name} as printed is not {name} as derived; mend what is printed")
    above = lines({name: gs.formula(text) for name, text in printed.items()})
    return f"{heading}:\n\n{above}\n\nDerived:\n\n{alone(derived)}"


def alone(derived: Mapping[str, Any]) -> str:
    """What is derived."""
    return lines({name: gs.readable(result) for name, result in derived.items()})


def lines(formulas: Mapping[str, sympy.Expr]) -> str:
    """A block of LaTeX, one equation for each formula, broken where it is too long."""
    short = frozenset(x for each in formulas.values() for x in each.free_symbols if SHORTHAND.fullmatch(x.name))
    printer = Printer(short)
    body = " \\\\\n".join(equations(list(formulas), [printer.pieces(each) for each in formulas.values()]))
    return f"```math\n\\begin{{aligned}}\n{body}\n\\end{{aligned}}\n```"


def long_hand(expression: sympy.Expr) -> sympy.Expr:
    """With sines and cosines for s_2, c_23, c_beta."""
    meanings = {}
    for x in expression.free_symbols:
        if match := SHORTHAND.fullmatch(x.name):
            wave, index = {"s": sympy.sin, "c": sympy.cos}[match[1]], match[2]
            angles = [gs.symbol(f"q_{k}") for k in index] if index.isdigit() else [gs.symbol(index)]
            meanings[x] = wave(sympy.Add(*angles))
    return expression.xreplace(meanings)


def entries(name: str, matrix: np.ndarray, *, upper: bool = False) -> dict[str, Any]:
    """Entries by their names, ``D_{12}``; of a symmetric matrix those on and above the diagonal."""
    if matrix.shape[1] == 1:
        return {f"{name}_{{{i + 1}}}": x for i, x in enumerate(matrix.ravel())}
    return {f"{name}_{{{i + 1}{j + 1}}}": x for (i, j), x in np.ndenumerate(matrix) if j >= i or not upper}


# RSD-TR-8-82: the three-link PUMA


def puma() -> Blocks:
    """Centres of mass are measured from frame s − 1, in the axes of link s."""
    inertias = [[f"I_{k}{axis}{axis}" for axis in "xyz"] for k in (1, 2, 3)]
    tree = gs.from_denavit_hartenberg(
        [
            gs.Row(alpha=-np.pi / 2, mass="m_1", com=("c_1x", "c_1y", "c_1z"), inertia=inertias[0]),
            gs.Row(a="a_2", d="d_2", mass="m_2", com=("c_2x - a_2", "c_2y", "c_2z - d_2"), inertia=inertias[1]),
            gs.Row(a="a_3", alpha=np.pi / 2, mass="m_3", com=("c_3x - a_3", "c_3y", "c_3z"), inertia=inertias[2]),
        ],
        gravity=(0, 0, "g_z"),
    )
    terms = gs.closed_forms(tree)
    h_rot = [
        "2*s_2*c_2*(I_2xx - I_2yy)*v_1*v_2 + 2*s_23*c_23*(I_3xx - I_3zz)*v_1*(v_2 + v_3)",
        "(s_2*c_2*(I_2yy - I_2xx) + s_23*c_23*(I_3zz - I_3xx))*v_1**2",
        "s_23*c_23*(I_3zz - I_3xx)*v_1**2",
    ]
    d_rot = {
        "11": "I_1yy + s_2**2*I_2xx + c_2**2*I_2yy + s_23**2*I_3xx + c_23**2*I_3zz",
        "12": "0",
        "13": "0",
        "22": "I_2zz + I_3yy",
        "23": "I_3yy",
        "33": "I_3yy",
    }
    rot = r"^{\mathrm{rot}}"
    return {
        "D_rot": beside(
            entries(f"D{rot}", terms["D_rot"], upper=True), {f"D{rot}_{{{k}}}": x for k, x in d_rot.items()}
        ),
        "H_rot": beside(entries(f"H{rot}", terms["H_rot"]), numbered(f"H{rot}", h_rot)),
        "D_tra": alone(entries(r"D^{\mathrm{tra}}", terms["D_tra"], upper=True)),
        "H_tra": alone(entries(r"H^{\mathrm{tra}}", terms["H_tra"])),
        "G": alone(entries("G", terms["G"])),
    }


def numbered(name: str, formulas: Sequence[str]) -> dict[str, str]:
    return {f"{name}_{{{i + 1}}}": text for i, text in enumerate(formulas)}


# Niku, chapter 4


def niku() -> Blocks:
    cart = {"cart": {"mass": "m_1", "spring": ("k", 0)}, "pendulum": {"mass": "m_2", "com": (0, 0, "-l")}}
    force = gs.closed_forms(gs.symbolic_tree("cart_pendulum", cart), of="inverse_dynamics")["tau"]
    two = gs.closed_forms(rods("l_1", "l_2"), of="inverse_dynamics")["tau"]
    equal = gs.closed_forms(rods("l", "l", "I_1", "I_2"), of="inverse_dynamics")["tau"]
    trace = gs.closed_forms(rods("l", "l"), gd.LagrangeEuler)
    product = "m_2*l**2*s_2*v_1**2/2"
    terms = {
        **entries("D", trace["D"], upper=True),
        **entries("h", _quadratic(trace, 2)),
        **entries("c", trace["c"]),
    }
    return {
        "4.2": beside(
            dict(zip("FT", force.ravel(), strict=True)),
            {
                "F": "(m_1 + m_2)*a_1 + m_2*l*c_2*a_2 - m_2*l*s_2*v_2**2 + k*q_1",
                "T": "m_2*l*c_2*a_1 + m_2*l**2*a_2 + m_2*g*l*s_2",
            },
        ),
        "4.4": beside(
            entries("T", two),
            {
                "T_{1}": "(m_1*l_1**2/3 + m_2*l_1**2 + m_2*l_2**2/3 + m_2*l_1*l_2*c_2)*a_1"
                " + (m_2*l_2**2/3 + m_2*l_1*l_2*c_2/2)*a_2 - m_2*l_1*l_2*s_2*v_1*v_2 - m_2*l_1*l_2*s_2*v_2**2/2"
                " + (m_1/2 + m_2)*g*l_1*c_1 + m_2*g*l_2*c_12/2",
                "T_{2}": "(m_2*l_2**2/3 + m_2*l_1*l_2*c_2/2)*a_1 + m_2*l_2**2*a_2/3 + m_2*l_1*l_2*s_2*v_1**2/2"
                " + m_2*g*l_2*c_12/2",
            },
        ),
        "4.7": beside(
            entries("T", equal),
            {
                "T_{1}": "(m_1/3 + 4*m_2/3 + m_2*c_2)*l**2*a_1 + (1/3 + c_2/2)*m_2*l**2*a_2 - m_2*l**2*s_2*v_2**2/2"
                " - m_2*l**2*s_2*v_1*v_2 + m_1*g*l*c_1/2 + m_2*g*l*c_12/2 + m_2*g*l*c_1 + I_1*a_1",
                "T_{2}": "(1/3 + c_2/2)*m_2*l**2*a_1 + m_2*l**2*a_2/3 + m_2*l**2*s_2*v_1**2/2 + m_2*g*l*c_12/2"
                " + I_2*a_2",
            },
        ),
        "trace": beside(
            terms,
            {
                "D_{11}": "m_1*l**2/3 + 4*m_2*l**2/3 + m_2*l**2*c_2",
                "D_{12}": "m_2*l**2/3 + m_2*l**2*c_2/2",
                "D_{22}": "m_2*l**2/3",
                "h_{1}": "-m_2*l**2*s_2*v_2**2/2 - m_2*l**2*s_2*v_1*v_2",
                "h_{2}": product,
                "c_{1}": "m_1*g*l*c_1/2 + m_2*g*l*c_12/2 + m_2*g*l*c_1",
                "c_{2}": "m_2*g*l*c_12/2",
            },
        ),
    }


def rods(l_1: str, l_2: str, motor_1: str = "0", motor_2: str = "0") -> gs.SymbolicTree:
    """Uniform thin rods in a vertical plane."""
    rows = []
    for k, length, motor in ((1, l_1, motor_1), (2, l_2, motor_2)):
        across = f"m_{k}*{length}**2/12"
        body: dict[str, Any] = {"mass": f"m_{k}", "com": (f"-{length}/2", 0, 0), "inertia": (0, across, across)}
        rows.append(gs.Row(a=length, armature=motor, **body))
    return gs.from_denavit_hartenberg(rows, gravity=(0, "-g", 0))


def _quadratic(terms: Mapping[str, np.ndarray], n: int) -> np.ndarray:
    """Σ h_ikm v_k v_m, n × 1."""
    v = np.array([gs.TrigonometricPolynomial.symbol(f"v_{k + 1}") for k in range(n)])
    return np.array([[v @ terms[f"h_{i + 1}"] @ v] for i in range(n)])


# Shala and Likaj: the R-P-R robot


def shala_likaj() -> Blocks:
    body = {
        k: {
            "mass": f"m_{k}",
            "com": [f"s_{k}{axis}" for axis in "xyz"],
            "inertia": [f"I_{k}{axis}{axis}" for axis in "xyz"],
        }
        for k in (1, 2, 3)
    }
    tree = gs.from_denavit_hartenberg(
        [
            gs.Row("R", d="L_1", **body[1]),
            gs.Row("P", alpha="-beta", **body[2]),
            gs.Row("R", d="L_3", **body[3]),
        ]
    )
    x, y, z = "(s_3x*c_3 - s_3y*s_3)", "(s_3x*s_3 + s_3y*c_3)", "(L_3 + s_3z)"
    m_11 = (
        "I_1zz + m_1*(s_1x**2 + s_1y**2) + s_beta**2*I_2yy + c_beta**2*I_2zz"
        " + m_2*(s_2x**2 + (c_beta*s_2y + s_beta*s_2z)**2) + s_beta**2*(s_3**2*I_3xx + c_3**2*I_3yy)"
        f" + c_beta**2*I_3zz + m_3*({x}**2 + (c_beta*{y} + s_beta*{z})**2)"
    )
    printed = {
        "M_{11}": m_11,
        "M_{12}": "0",
        "M_{13}": f"c_beta*I_3zz + m_3*(c_beta*(s_3x**2 + s_3y**2) + s_beta*{z}*{y})",
        "M_{22}": "m_2 + m_3",
        "M_{23}": f"-m_3*s_beta*{x}",
        "M_{33}": "I_3zz + m_3*(s_3x**2 + s_3y**2)",
    }
    slope = f"(s_beta**2*s_3*c_3*(I_3xx - I_3yy) + m_3*{x}*(c_beta**2*{y} + c_beta*s_beta*{z} - {y}))"
    products = [
        f"2*{slope}*v_1*v_3 + m_3*s_beta*{z}*{x}*v_3**2",
        f"m_3*s_beta*{y}*v_3**2",
        f"-{slope}*v_1**2",
    ]
    gravity = ["0", "(m_2 + m_3)*g", f"-m_3*g*s_beta*{x}"]
    m, g, nle = (
        gs.closed_forms(tree, of=function)[output]
        for function, output in (("mass_matrix", "M"), ("generalized_gravity", "g"), ("nle", "nle"))
    )
    return {
        "M": beside(entries("M", m, upper=True), printed, "By hand"),
        "V": beside(entries("V", nle - g), numbered("V", products), "By hand"),
        "G": beside(entries("G", g), numbered("G", gravity), "By hand"),
    }


# Horn, Hirokawa, Vazirani


def horn() -> Blocks:
    both = "(2*l_2**2*s_2*c_2 + l_2*l_3*(c_2*s_23 + s_2*c_23) + 2*l_3**2*s_23*c_23/3)"
    outer = "(l_2*l_3*s_2*c_23 + 2*l_3**2*s_23*c_23/3)"
    within = "(l_2**2*s_2**2 + l_2*l_3*s_2*s_23 + l_3**2*s_23**2/3 + delta_3**2)"
    coupling = "(l_2*l_3*c_3 + 2*l_3**2/3)"
    reach = "delta_3*(2*l_2*c_2 + l_3*c_23)"
    rod_2 = {
        "T_{12}": "m_2/2*(2*(delta_2**2 + l_2**2*s_2**2/3)*a_1 - l_2*delta_2*c_2*a_2 + 4*l_2**2*s_2*c_2*v_1*v_2/3"
        " + l_2*delta_2*s_2*v_2**2)",
        "T_{22}": "m_2/2*(-l_2*delta_2*c_2*a_1 + 2*l_2**2*a_2/3 - 2*l_2**2*s_2*c_2*v_1**2/3)",
        "T_{32}": "0",
    }
    rod_3 = {
        "T_{13}": f"m_3/2*(2*{within}*a_1 + 2*{both}*v_1*v_2 + 2*{outer}*v_1*v_3 - {reach}*a_2"
        " - delta_3*l_3*c_23*a_3 + delta_3*(2*l_2*s_2 + l_3*s_23)*v_2**2 + 2*delta_3*l_3*s_23*v_2*v_3"
        " + delta_3*l_3*s_23*v_3**2)",
        "T_{23}": f"m_3/2*(2*(l_2**2 + l_2*l_3*c_3 + l_3**2/3)*a_2 + {coupling}*a_3 - {both}*v_1**2"
        f" - 2*l_2*l_3*s_3*v_2*v_3 - l_2*l_3*s_3*v_3**2 - {reach}*a_1)",
        "T_{33}": f"m_3/2*({coupling}*a_2 + 2*l_3**2*a_3/3 - {outer}*v_1**2 + l_2*l_3*s_3*v_2**2"
        " - delta_3*l_3*c_23*a_1)",
    }
    u, w = "(l_2*s_2 + l_3*s_23)", "(l_2*c_2 + l_3*c_23)"
    load = {
        "T_{13}": f"m_3*(({u}**2 + delta_3**2)*a_1 - delta_3*{w}*a_2 - delta_3*l_3*c_23*a_3 + 2*{u}*{w}*v_1*v_2"
        f" + 2*l_3*c_23*{u}*v_1*v_3 + delta_3*{u}*v_2**2 + 2*delta_3*l_3*s_23*v_2*v_3 + delta_3*l_3*s_23*v_3**2)",
        "T_{23}": f"m_3*(-delta_3*{w}*a_1 + (l_2**2 + 2*l_2*l_3*c_3 + l_3**2)*a_2 + l_3*(l_2*c_3 + l_3)*a_3"
        f" - {u}*{w}*v_1**2 - 2*l_2*l_3*s_3*v_2*v_3 - l_2*l_3*s_3*v_3**2)",
        "T_{33}": f"m_3*(-delta_3*l_3*c_23*a_1 + l_3*(l_2*c_3 + l_3)*a_2 + l_3**2*a_3 - l_3*c_23*{u}*v_1**2"
        " + l_2*l_3*s_3*v_2**2)",
    }
    arm, sky = "(l_2*s_2 + l_3/2*s_23)", "(g_1*c_1 + g_2*s_1)"
    gravity = [
        f"g_1*(m_2*(l_2/2*s_1*s_2 + delta_2*c_1) + m_3*({arm}*s_1 + delta_3*c_1))"
        f" - g_2*(m_2*(l_2/2*c_1*s_2 - delta_2*s_1) + m_3*({arm}*c_1 - delta_3*s_1))",
        f"-{sky}*(m_2*l_2/2*c_2 + m_3*(l_2*c_2 + l_3/2*c_23)) + g_3*(m_2*l_2/2*s_2 + m_3*{arm})",
        f"m_3*l_3/2*(-{sky}*c_23 + g_3*s_23)",
    ]
    rods_, loads = device(HALF), device(WHOLE)
    torques, of_loads = (gs.closed_forms(x, of="link_torques")["links"] for x in (rods_, loads))
    g = gs.closed_forms(rods_, of="generalized_gravity")["g"]
    return {
        "link 2": beside({f"T_{{{i + 1}2}}": x for i, x in enumerate(torques[:, 1])}, rod_2),
        "link 3": beside({f"T_{{{i + 1}3}}": x for i, x in enumerate(torques[:, 2])}, rod_3),
        "load": beside({f"T_{{{i + 1}3}}": x for i, x in enumerate(of_loads[:, 2])}, load),
        "gravity": beside(entries("G", g), numbered("G", gravity)),
    }


HALF, WHOLE = ("m_{0}*l_{0}**2/12", "l_{0}/2"), ("0", "l_{0}")
"""Of a rod, and of a load at its end: the inertia across, and how far along the link the mass is."""


def device(kind: tuple[str, str]) -> gs.SymbolicTree:
    """A column, and two links with offsets that turn about horizontal axes: Rz, Ry, Ry."""
    rows = [gs.Row(alpha=-np.pi / 2, mass=0, inertia=(0, "I_1", 0))]
    for k in (2, 3):
        across, height = (text.format(k) for text in kind)
        # link frame: x along the link, y across it in its plane; theta turns it from the vertical
        com = (f"{height} - l_{k}", 0, f"delta_{k}")
        theta = -np.pi / 2 if k == 2 else 0
        rows.append(gs.Row(a=f"l_{k}", theta=theta, mass=f"m_{k}", com=com, inertia=(0, across, across)))
    return gs.from_denavit_hartenberg(rows, gravity=("g_1", "g_2", "g_3"))


# Cetinkunt and Book: the planar arm with flexible links


def cetinkunt_book() -> Blocks:
    model = gd.load_urdf("two_link_flexible")
    model.gravity.linear = np.array([0, -9.81, 0])  # its symbol is that of what is not zero
    beams = {"link1": gd.Beam(1.0, 0.6, EI_z=10.0), "link2": gd.Beam(0.8, 0.45, EI_z=10.0)}
    ends = {"link1": None, "link2": "tip"}
    shape = gd.modes.clamped_free(1)
    links = {name: gd.FlexibleLink(beam, to=ends[name], bending_y=shape) for name, beam in beams.items()}
    arm = gs.symbolic_tree(gd.FirstOrderArm(model, links))
    of = ("mass_matrix", "terms", "generalized_gravity", "stiffness")
    forms = {name: x for each in of for name, x in gs.closed_forms(arm, of=each).items()}
    return {
        "M": alone(entries("M", forms["M"], upper=True)),
        "C": alone(entries("C", np.vstack([forms["C_1"], forms["C_2"]]))),
        "G": alone(entries("G", forms["g"])),
        "K": alone({name: x for name, x in entries("K", forms["K"]).items() if x}),
    }


PAGES: Mapping[str, Callable[[], Blocks]] = {
    "rsd_tr_8_82": puma,
    "niku": niku,
    "shala_likaj": shala_likaj,
    "horn": horn,
    "cetinkunt_book": cetinkunt_book,
}

if __name__ == "__main__":
    main()
