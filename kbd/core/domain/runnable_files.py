"""Runnable files: what runs, or is obeyed, for lying in a folder or being opened there.

By four groups, each with its own reason why a name counts:

    scripts and programs  an operating system or its shell runs them when they are opened
    shortcuts             they open something else, which their name does not show
    queries               an office program that opens them fetches from the address in them
    settings              programs obey them for where they lie, and nobody opens them

A name with a hidden part (".vscode/tasks.json") counts as settings: programs keep theirs so. Files
that begin as programs do count under any name. What a format shows of its own files that runs (a
page with a script, a macro) is the format's to tell.
"""

__all__ = ["HEAD_BYTES", "runnable_reason"]

HEAD_BYTES = 64
"""As much of a file's beginning as the rule looks at."""


def _names(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


_SCRIPTS = _names(
    # Unix and macOS; then Windows, by its PATHEXT and what its shell, installers and hosts run.
    ".sh .bash .zsh .fish .ksh .csh .command .tool .run .bin .appimage .py .pyw .pyz .pl .rb .php "
    ".lua .tcl .awk .js .mjs .cjs .scpt .scptd .applescript .workflow .action .terminal .app .pkg "
    ".dmg .deb .rpm .jar .class .so .dylib .bat .cmd .com .exe .scr .pif .msi .msp .mst .msix "
    ".appx .dll .cpl .ocx .sys .drv .ps1 .psm1 .psd1 .ps1xml .vbs .vbe .vb .jse .ws .wsf .wsc .wsh "
    ".sct .hta .htc .reg .inf .gadget .msc .chm .hlp .jnlp .cdxml .diagcab .xbap .xll .wll "
    ".application .ahk .au3 .shb .shs .job .ade .adp .accdb .accde .mda .mdb .mde .xla .xlam .ppam "
    # What other programs run that opens them: servers, browsers, editors; disks that are mounted.
    ".phtml .phar .asp .aspx .jsp .cgi .xht .xhtml .shtml .swf .xpi .crx .vsix .oxt .apk .ps .eps "
    ".pyd .ko .iso .img .vhdx .wim"
)
_SHORTCUTS = _names(
    ".lnk .url .website .desktop .webloc .inetloc .fileloc .scf .library-ms .search-ms "
    ".searchconnector-ms .settingcontent-ms .appref-ms .rdp .ica .theme .themepack .contact "
    ".mht .mhtml .torrent"
)
_QUERIES = _names(".iqy .oqy .rqy .dqy .odc .udl .slk .dif .wiz .prf")
_SETTINGS = _names(
    # Build tools and package managers run what these say, some on the next call of any command.
    "makefile gnumakefile bsdmakefile justfile rakefile gemfile procfile vagrantfile jenkinsfile "
    "brewfile podfile fastfile dockerfile containerfile docker-compose.yml docker-compose.yaml "
    "compose.yml compose.yaml docker-compose.override.yml docker-compose.override.yaml "
    "compose.override.yml compose.override.yaml taskfile.yml taskfile.yaml lefthook.yml "
    "lefthook.yaml mise.toml pixi.toml rust-toolchain.toml tiltfile earthfile dangerfile "
    "sconstruct wscript buck configure yarn.lock pnpm-lock.yaml "
    "package.json package-lock.json npm-shrinkwrap.json composer.json "
    "deno.json deno.jsonc bunfig.toml pnpm-workspace.yaml lerna.json nx.json turbo.json "
    "tsconfig.json jsconfig.json pyproject.toml setup.cfg tox.ini noxfile.py pytest.ini pipfile "
    "requirements.txt constraints.txt environment.yml conda.yaml poetry.lock uv.toml ruff.toml "
    "mypy.ini cargo.toml build.rs go.mod go.work pom.xml build.gradle build.gradle.kts "
    "settings.gradle gradle.properties build.xml cmakelists.txt cmakepresets.json meson.build "
    "build workspace module.bazel flake.nix shell.nix default.nix renovate.json "
    "azure-pipelines.yml bitbucket-pipelines.yml appveyor.yml cloudbuild.yaml "
    "netlify.toml vercel.json mkdocs.yml web.config php.ini nginx.conf crontab authorized_keys "
    "known_hosts claude.md claude.local.md agents.md gemini.md copilot-instructions.md "
    # Windows and macOS read these of a folder or a drive that is looked at.
    "autorun.inf desktop.ini thumbs.db folder.htt"
)
_SETTING_SUFFIXES = _names(
    ".service .timer .socket .mount .automount .path .target .rules .mk .gradle .cmake .bazel "
    ".bzl .csproj .vbproj .vcxproj .fsproj .props .targets .sln .code-workspace .sublime-project "
    ".mobileconfig .provisionprofile .pth .xlb .otm .tf .tfvars .nix .dockerfile"
)
_PROGRAMS = {
    b"#!": "a line that names its interpreter",
    b"\x7fELF": "the header of a program",
    b"MZ": "the header of a program",
    b"\xfe\xed\xfa\xce": "the header of a program",
    b"\xfe\xed\xfa\xcf": "the header of a program",
    b"\xce\xfa\xed\xfe": "the header of a program",
    b"\xcf\xfa\xed\xfe": "the header of a program",
    b"\xca\xfe\xba\xbe": "the header of a program",
    b"L\x00\x00\x00\x01\x14\x02\x00": "the header of a shortcut",
    b"[Desktop Entry]": "the header of a shortcut",
    b"[InternetShortcut]": "the header of a shortcut",
    b"ID;P": "the header of a query",
}


def runnable_reason(name: str, head: bytes) -> str:
    """Return why a file runs or is obeyed without a person reading it; "" if it does not.

    Args:
        name: Its name, folders included.
        head: The first `HEAD_BYTES` of it.
    """
    parts = name.casefold().split("/")
    # The end of a name counts, without the blanks and dots that some programs drop there.
    last = parts[-1].rstrip(". ")
    suffix = "".join(last.rpartition(".")[1:]) if "." in last else ""
    if any(part.startswith(".") for part in parts) or last in _SETTINGS:
        return "settings, which programs obey where they lie"
    if suffix in _SETTING_SUFFIXES:
        return f"settings ({suffix}), which programs obey where they lie"
    if suffix in _SCRIPTS:
        return f"a script or program ({suffix}), which runs when it is opened"
    if suffix in _SHORTCUTS:
        return f"a shortcut ({suffix}), which opens something else"
    if suffix in _QUERIES:
        return f"a query ({suffix}), which fetches when it is opened"
    begins = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    found = next((what for mark, what in _PROGRAMS.items() if begins.startswith(mark)), "")
    return f"it begins with {found}" if found else ""
