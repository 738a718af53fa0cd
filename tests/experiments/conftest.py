from tests.training.conftest import toy as toy
