# Every target calls course.py, which works on every system: on Windows type `py course.py NAME`.
PYTHON ?= python3
PORT ?=
CHAPTER ?=
ARGS ?=

TARGETS = help lab test browser setup model slides handout ready bench refresh images requirements proof mutants fuzz elsewhere offline audit clean
MISSING = There is no program $(PYTHON) here: install Python 3.11 or newer, or name yours, for example \`make lab PYTHON=python3.12\`.

.DEFAULT_GOAL = help
.PHONY: $(TARGETS)

lab: OPTIONS = $(if $(PORT),--port "$(PORT)")
ready: OPTIONS = $(if $(CHAPTER),"$(CHAPTER)")

$(TARGETS):
	@command -v "$(PYTHON)" >/dev/null 2>&1 || { echo "$(MISSING)" >&2; exit 1; }; \
	exec "$(PYTHON)" course.py $@ $(OPTIONS) $(ARGS)
