"""Commands for replays in gdb: norn-next, norn-back, norn-where.

A thread that loses its turn to another one calls a function of norn's runtime for that, while all others
sleep; that is a switch. The schedule is the same in every run, so the switch before is reached by running again.
"""

import gdb

SWITCH = "norn_rt::control::turn::switch::h"


class Replay:
    """How far the replay has come."""

    breakpoint = None
    switches = 0
    # Number of switches at which the program does not stop.
    passing = 0
    at_switch = False


def switch_function():
    """The function that a thread calls at a switch. Its name ends with digits of its build."""
    for line in gdb.execute("info functions ^" + SWITCH, to_string=True).splitlines():
        name = line.split()[-1] if line.split() else ""
        if name.startswith(SWITCH):
            return name
    raise gdb.GdbError("norn: the program has no runtime of norn")


class Switch(gdb.Breakpoint):
    """Stops a thread that loses its turn in the program's own code."""

    def stop(self):
        if program_frame(gdb.newest_frame()) is None:
            return False
        Replay.passing -= 1
        return Replay.passing < 0


def arm():
    """Stops at switches from now on."""
    if Replay.breakpoint is None or not Replay.breakpoint.is_valid():
        Replay.breakpoint = Switch(switch_function(), internal=True)
        Replay.breakpoint.silent = True
    Replay.breakpoint.enabled = True


def on_stop(event):
    """Notes whether the program stopped at a switch."""
    points = getattr(event, "breakpoints", [])
    Replay.at_switch = Replay.breakpoint in points


def program_frame(frame):
    """The innermost frame of the program itself: code with lines that is neither norn's nor a library's."""
    while frame is not None:
        name, symtab = frame.name() or "", frame.find_sal().symtab
        if symtab is not None and not name.startswith("norn_rt::") and not is_system(symtab):
            return frame
        frame = frame.older()
    return None


def is_system(symtab):
    """Whether code belongs to a library of the system, or was inlined from one."""
    if symtab.fullname().startswith(("/usr/include/", "/usr/lib/", "/rustc/")):
        return True
    # The debug information of a library may be in a file of its own.
    library = symtab.objfile.owner or symtab.objfile
    file = library.filename.rsplit("/", 1)[-1]
    return file.startswith(("libc.", "libc-", "libpthread", "ld-linux", "libstdc++", "libm."))


def place(frame):
    """A frame in words."""
    if frame is None:
        return "outside of the program's code"
    sal = frame.find_sal()
    return "%s at %s:%d" % (frame.name(), sal.symtab.filename, sal.line)


def show():
    """Says where the program is, and selects the frame of the program."""
    thread = gdb.selected_thread()
    if thread is None:
        gdb.write("norn: the program has ended\n")
        return
    frame = program_frame(gdb.newest_frame())
    if Replay.at_switch:
        gdb.write("norn: switch %d: thread %d is stopped in " % (Replay.switches, thread.num))
    else:
        gdb.write("norn: thread %d is in " % thread.num)
    gdb.write(place(frame) + "\n")
    if frame is not None:
        frame.select()


def is_running():
    """Whether the program was started and has not ended."""
    return gdb.selected_inferior().pid != 0


class Next(gdb.Command):
    """norn-next: run to the next switch between threads, or to the failure."""

    def __init__(self):
        super().__init__("norn-next", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        if not is_running():
            Replay.switches = 0
        arm()
        Replay.passing = 0
        Replay.at_switch = False
        gdb.execute("continue" if is_running() else "run")
        Replay.switches += 1 if Replay.at_switch else 0
        show()


class Back(gdb.Command):
    """norn-back: run again, to the switch before."""

    def __init__(self):
        super().__init__("norn-back", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        # At a failure, the last switch is the one before.
        target = Replay.switches - (1 if Replay.at_switch else 0)
        if target < 1:
            raise gdb.GdbError("norn: there is no switch before this one")
        arm()
        Replay.passing = target - 1
        Replay.at_switch = False
        gdb.execute("set confirm off")
        gdb.execute("run")
        Replay.switches = target
        show()


class Where(gdb.Command):
    """norn-where: where each thread is in the program's own code."""

    def __init__(self):
        super().__init__("norn-where", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        chosen = gdb.selected_thread()
        if chosen is None:
            gdb.write("norn: the program does not run\n")
            return
        frame = gdb.selected_frame()
        for thread in sorted(gdb.selected_inferior().threads(), key=lambda it: it.num):
            thread.switch()
            mark = "*" if thread.num == chosen.num else " "
            gdb.write("%s thread %d  %s\n" % (mark, thread.num, place(program_frame(gdb.newest_frame()))))
        chosen.switch()
        if frame.is_valid():
            frame.select()


gdb.events.stop.connect(on_stop)
Next()
Back()
Where()
