"""The recipe of conda, rendered for each platform that has a package: python conda.py; it takes py-rattler-build."""

from pathlib import Path

from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig

ROOT = Path(__file__).resolve().parents[1]
# As conda-forge pins them.
VARIANTS = {"c_stdlib": ["sysroot"], "c_stdlib_version": ["2.17"], "python": ["3.12"]}
PLATFORMS = ("linux-64", "linux-aarch64", "osx-64", "osx-arm64")

recipe = Stage0Recipe.from_yaml((ROOT / "conda" / "recipe.yaml").read_text())
for name in PLATFORMS:
    platform = PlatformConfig(target_platform=name, host_platform=name, build_platform=name)
    rendered = recipe.render(VariantConfig(VARIANTS), RenderConfig(platform=platform))
    packages = [f"{each.recipe.package.name} {each.recipe.package.version}" for each in rendered]
    assert len(packages) == 2, (name, packages)
    print(f"conda: {name}: {', '.join(packages)}")
