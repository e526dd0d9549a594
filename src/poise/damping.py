"""Rules of damping: how much, from the singular values of the Jacobian or from the error."""

from poise.methods.damping import ChanLawrence as ChanLawrence
from poise.methods.damping import Chiaverini as Chiaverini
from poise.methods.damping import ChiaveriniSicilianoEgeland as ChiaveriniSicilianoEgeland
from poise.methods.damping import Constant as Constant
from poise.methods.damping import Curvature as Curvature
from poise.methods.damping import DeoWalker as DeoWalker
from poise.methods.damping import GainRatio as GainRatio
from poise.methods.damping import MaciejewskiKlein as MaciejewskiKlein
from poise.methods.damping import MaxNorm as MaxNorm
from poise.methods.damping import NakamuraHanafusa as NakamuraHanafusa
from poise.methods.damping import RateBound as RateBound
from poise.methods.damping import Sugihara as Sugihara
