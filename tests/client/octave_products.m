% Float32 products as Octave's operators send them to SGEMM, held against sums in double that use no BLAS.
1;

function check (name, c, a, b)
  a = double (a);
  b = double (b);
  for i = 1:rows (a)
    exact = sum (a(i,:).' .* b, 1);
    bound = (columns (a) + 1) * 2^-24 * 1.01 * sum (abs (a(i,:).') .* abs (b), 1);
    if (! isa (c, "single") || any (! (abs (double (c(i,:)) - exact) <= bound)))
      fprintf ("%s: row %d is wrong\n", name, i);
      exit (1);
    endif
  endfor
endfunction

rand ("seed", 5);
a = single (rand (120, 150) - 0.5);
b = single (rand (150, 90) - 0.5);
check ("A * B", a * b, a, b);
check ("A.' * B", a.' * b(1:120,:), a.', b(1:120,:));
check ("A * B.'", a(:,1:90) * b.', a(:,1:90), b.');
check ("A.' * B.'", a(1:90,:).' * b.', a(1:90,:).', b.');
check ("a part of A", a(11:60,21:99) * b(1:79,2:3), a(11:60,21:99), b(1:79,2:3));
a(3,5) = NaN;
c = a * b;
if (! all (isnan (c(3,:))) || any (any (isnan (c([1:2, 4:end],:)))))
  printf ("NaN is lost or misplaced\n");
  exit (1);
endif
printf ("products are right\n");
