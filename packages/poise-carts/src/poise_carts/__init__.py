"""Robots on wheels: what their wheels let a base do, and ways for base and arm together."""

from poise_carts.cart import Cart as Cart
from poise_carts.drive import drive as drive
from poise_carts.follow import follow as follow
from poise_carts.wheel import Wheel as Wheel
