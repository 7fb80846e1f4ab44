// Half of plugin_host.c: a library that is loaded while the program runs.
int plugin_state = 1;

int plugin_run(int by) {
    plugin_state += by;
    return plugin_state;
}
