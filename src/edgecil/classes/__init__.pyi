from .choice import ClassChoice as ClassChoice
from .lists import (
    ClassList as ClassList,
    dataset_names as dataset_names,
    get_classes as get_classes,
    read_classes as read_classes,
    register_classes as register_classes,
    select_classes as select_classes,
    straighten_apostrophes as straighten_apostrophes,
    words_of as words_of,
)
