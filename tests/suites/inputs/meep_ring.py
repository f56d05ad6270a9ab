"""A pulse in a ring; its field over time and the state are written by parallel HDF5."""
import meep

RING = [meep.Cylinder(radius=3, material=meep.Medium(epsilon=11.56)), meep.Cylinder(radius=2)]
PULSE = meep.Source(meep.GaussianSource(0.15, fwidth=0.1), component=meep.Ez,
                    center=meep.Vector3(2.6))
simulation = meep.Simulation(cell_size=meep.Vector3(16, 16, 0), geometry=RING, resolution=24,
                             boundary_layers=[meep.PML(2)], sources=[PULSE])
simulation.run(meep.at_beginning(meep.output_epsilon),
               meep.to_appended("ez", meep.at_every(2, meep.output_efield_z)), until=40)
simulation.dump("state")
