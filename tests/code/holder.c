/* A library that has device code and nothing else. */
__attribute__((visibility("default"))) const int code_holder = 1;
