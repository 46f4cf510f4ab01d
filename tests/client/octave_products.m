% Products as Octave's operators send them to GEMM and, of a matrix and its own transpose, to SYRK; held
% against sums in double that use no BLAS.
%
%   octave-cli octave_products.m float32|float64|complex64|complex128
1;

% Of a complex number as a term that is summed up: both its parts.
function s = sizes (x)
  s = abs (real (x)) + abs (imag (x));
endfunction

function check (name, c, a, b, element)
  a = double (a);
  b = double (b);
  k = columns (a) * (1 + iscomplex (a)); % terms of a sum: each number has two where it is complex
  % Of one rounding in the program and one in the sums here.
  unit = (double (eps (element)) + eps ("double")) / 2;
  for i = 1:rows (a)
    wanted = sum (a(i,:).' .* b, 1);
    bound = (k + 1) * unit * 1.01 * sum (sizes (a(i,:).') .* sizes (b), 1);
    difference = double (c(i,:)) - wanted;
    if (! isa (c, element) || any (! (max (abs (real (difference)), abs (imag (difference))) <= bound)))
      fprintf ("%s: row %d is wrong\n", name, i);
      exit (1);
    endif
  endfor
endfunction

% A * X is B, to what substitution leaves in any order (Higham, Accuracy and Stability, 8.1).
function check_solution (name, x, a, b, element)
  k = (columns (a) + 5) * (1 + iscomplex (a));
  unit = (double (eps (element)) + eps ("double")) / 2;
  a = double (a);
  x = double (x);
  for i = 1:rows (a)
    difference = sum (a(i,:).' .* x, 1) - double (b(i,:));
    bound = k * unit * 1.01 * sum (sizes (a(i,:).') .* sizes (x), 1);
    if (any (! (max (abs (real (difference)), abs (imag (difference))) <= bound)))
      fprintf ("%s: row %d is wrong\n", name, i);
      exit (1);
    endif
  endfor
endfunction

number = argv (){1};
element = {"single", "double"}{1 + any (strcmp (number, {"float64", "complex128"}))};
rand ("seed", 5);
a = cast (rand (120, 150) - 0.5, element);
b = cast (rand (150, 90) - 0.5, element);
if (strncmp (number, "complex", 7))
  a = a + i * cast (rand (size (a)) - 0.5, element);
  b = b + i * cast (rand (size (b)) - 0.5, element);
  check ("A * B'", a(:,1:90) * b', a(:,1:90), b', element);
  check ("A' * B", a' * b(1:120,:), a', b(1:120,:), element);
endif
check ("A * B", a * b, a, b, element);
check ("A.' * B", a.' * b(1:120,:), a.', b(1:120,:), element);
check ("A * B.'", a(:,1:90) * b.', a(:,1:90), b.', element);
check ("A.' * B.'", a(1:90,:).' * b.', a(1:90,:).', b.', element);
check ("a part of A", a(11:60,21:99) * b(1:79,2:3), a(11:60,21:99), b(1:79,2:3), element);
check ("A * A.'", a * a.', a, a.', element);
check ("A.' * A", a.' * a, a.', a, element);
% Octave sees what is triangular, and has LAPACK solve it, whose call of TRSM does not come by where it is OpenBLAS's
% (tests/suite/octave.py has Netlib's).
square = a(:,1:120) / 11 + 2 * eye (120, element);
for part = {"upper", "lower"}
  triangle = {triu(square), tril(square)}{1 + strcmp (part, "lower")};
  check_solution ([part{1} " \\ B"], triangle \ b(1:120,:), triangle, b(1:120,:), element);
  check_solution ([part{1} "' \\ B"], triangle' \ b(1:120,:), triangle', b(1:120,:), element);
  check_solution (["B / " part{1}], (b(1:120,:).' / triangle).', triangle.', b(1:120,:), element);
endfor
a(3,5) = NaN;
c = a * b;
if (! all (isnan (c(3,:))) || any (any (isnan (c([1:2, 4:end],:)))))
  printf ("NaN is lost or misplaced\n");
  exit (1);
endif
printf ("products are right\n");
