% Runs Octave's own tests, and tells of each name how many there are and how many passed; ends with 3 where there are none
% at all. What fails is described in the log.
%
%   octave-cli octave_tests.m LOG NAME...    NAME is a function, or a path in Octave's folder of tests
1;

function path = find_tests (name)
  if (any (name == "/"))
    path = fullfile (__octave_config_info__ ("octtestsdir"), name);
  else
    path = file_in_loadpath ([name ".m"]);
  endif
  if (! exist (path, "file"))
    path = "";
  endif
endfunction

arguments = argv ();
% The log is opened once, as each opening would empty it.
log = fopen (arguments{1}, "w");
found = 0;
for i = 2:numel (arguments)
  path = find_tests (arguments{i});
  if (isempty (path))
    continue;
  endif
  % The same matrices on every run.
  rand ("twister", 1);
  randn ("twister", 1);
  [passed, all] = test (path, "quiet", log);
  printf ("tests of %s: %d of %d\n", arguments{i}, passed, all);
  found += all > 0;
endfor
fclose (log);
if (found == 0)
  exit (3);
endif
