"""How to cite the software and the paper whose evaluation it implements."""

from __future__ import annotations


def bibtex(version: str) -> str:
    """Two BibTeX entries."""
    note = f"  note = {{Version {version}}},\n" if version else ""
    return (
        "@software{edgecil,\n"
        "  title = {edgecil: accuracy of class-incremental learners over all class orders},\n"
        "  author = {{The edgecil developers}},\n"
        f"{note}"
        "}\n\n"
        "@inproceedings{lai2026lie,\n"
        "  title = {The Lie of the Average: How Class Incremental Learning Evaluation Deceives "
        "You?},\n"
        "  author = {Lai, Guannan and Zhou, Da-Wei and Yang, Xin and Ye, Han-Jia},\n"
        "  booktitle = {International Conference on Learning Representations (ICLR)},\n"
        "  year = {2026},\n"
        "}\n"
    )
