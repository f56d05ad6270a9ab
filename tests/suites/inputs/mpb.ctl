; Bands of a square lattice of rods; the fields are written by parallel HDF5.
(set! geometry-lattice (make lattice (size 1 1 no-size)))
(set! geometry (list (make cylinder (center 0 0 0) (radius 0.2) (height infinity)
                           (material (make dielectric (epsilon 12))))))
(set! k-points (list (vector3 0.5 0 0) (vector3 0.5 0.5 0)))
(set! resolution 384)
(set! num-bands 4)
(set! deterministic? true) ; not from random fields
(run-tm output-efield-z)
