"""Runnable files: what runs, or is obeyed, for lying in a folder or being opened there.

By five groups, each with its own reason why a name counts:

    scripts and programs  an operating system, its shell or an interpreter runs them when opened
    shortcuts             they open something else, which their name does not show
    queries               a program that opens them fetches from the address in them
    settings              programs obey them for where they lie, or take them over when opened
    bundles               a folder that a system opens as one program, with all that lies in it

The suffixes are those that mail programs and browsers hold back (Outlook, Gmail, Firefox, Chrome),
as far as they are no archives, and what has become known since. A name with a hidden part
(".vscode/tasks.json") counts as settings: programs keep theirs so. Files that begin as programs do
count under any name. What a format shows of its own files that runs (a page with a script, a macro)
is the format's to tell.
"""

import re

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
    ".appx .dll .cpl .ocx .sys .drv .ps1 .psm1 .psd1 .ps1xml .vbs .vbe .vb .jse .ws .wsf .wsc "
    ".wsh .sct .hta .htc .reg .inf .gadget .msc .chm .hlp .jnlp .cdxml .diagcab .xbap .xll .wll "
    ".application .ahk .au3 .a3x .appinstaller .appxbundle .msixbundle .msu .vbscript .bas .job "
    ".vxd .ins .isp .ps2 .ps2xml .psc1 .psc2 .pssc .psrc .msh .msh1 .msh2 .mshxml .msh1xml "
    ".msh2xml .wsb .diagcfg .diagpkg .webpnp .printerexport .its .hpj .cnt .plg .pcd .ops .osd "
    ".fxp .prg .xnk .efi "
    # Interpreters run these; a server may run the last of them.
    ".tcsh .shar .pyc .pyo .pyd .pyzw .pm .csx .fsx .exs .groovy .kts .r .jl .raku .elf .wasm "
    ".node .asp .aspx .jsp .phtml .php3 .php4 .php5 "
    # Packages and add-ins, which are installed when they are opened; disks, which are mounted.
    ".apk .xapk .aab .ipa .dex .crx .xpi .oxt .vsix .vsto .safariextz .snap .flatpak .flatpakref "
    ".egg .xla .xlam .ppa .ppam .xlm .vsmacros .vsw .mpkg .osax .osas .seplugin .iso .img .vhd "
    ".vhdx .sparseimage .udif .cab "
    # Databases of Access and LibreOffice hold macros.
    ".ade .adp .accda .accde .accdr .mda .mdb .mde .mdw .mdz .odb "
    # Servers run these, and browsers show them as pages.
    ".accdb .phar .cgi .xht .xhtml .shtml .swf .ps .eps .ko .wim"
)
_SHORTCUTS = _names(
    ".lnk .url .website .desktop .webloc .inetloc .fileloc .scf .library-ms .search-ms "
    ".searchconnector-ms .settingcontent-ms .appcontent-ms .appref-ms .rdp .ica .theme .themepack "
    ".deskthemepack .contact .mht .mhtml .torrent .shb .shs .grp .directory .kdelnk .afploc "
    ".ftploc .mailloc .vncloc .atloc .networkconnect .internetconnect "
    # Shortcuts to the parts of an Access database.
    ".mad .maf .mag .mam .maq .mar .mas .mat .mau .mav .maw"
)
_QUERIES = _names(
    # Data sources; forms that name the document they belong to; lists of media.
    ".iqy .oqy .rqy .dqy .odc .odcnew .udl .dsn .slk .dif .wiz .prf .fdf .xfdf .xdp .asx .wax "
    ".wvx .wmx .wpl .m3u .m3u8 .pls .xspf .qtl .ram .smil"
)
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
    "azure-pipelines.yml bitbucket-pipelines.yml appveyor.yml cloudbuild.yaml netlify.toml "
    "vercel.json mkdocs.yml web.config php.ini nginx.conf crontab authorized_keys known_hosts "
    "claude.md claude.local.md agents.md gemini.md "
    # Windows and macOS read these of a folder or a drive that is looked at.
    "autorun.inf desktop.ini thumbs.db folder.htt "
    # What the next installation fetches.
    "bun.lock bun.lockb composer.lock gemfile.lock cargo.lock uv.lock mix.lock pdm.lock "
    "podfile.lock package.resolved "
    # Task runners and tools that call commands.
    "rebar.config stack.yaml biome.json wercker.yml codefresh.yml skaffold.yaml snakefile "
    "guardfile copilot-instructions.md"
)
_SETTING_SUFFIXES = _names(
    ".service .timer .socket .mount .automount .path .target .rules .mk .gradle .cmake .bazel "
    ".bzl .csproj .vbproj .vcxproj .fsproj .props .targets .sln .code-workspace .sublime-project "
    ".mobileconfig .configprofile .provisionprofile .pth .xlb .otm .tf .hcl .nix "
    ".tfvars .dockerfile "
    # Certificates, which are installed when they are opened.
    ".cer .crt .der .p12 .pfx"
)
_CONFIGURES = (".exe.config", ".dll.config")
_BUNDLES = _names(
    ".app .workflow .action .caction .scptd .appex .kext .prefpane .saver .qlgenerator "
    ".mdimporter .bundle .framework .plugin .wdgt .service .osax .pkg .mpkg .playground "
    ".xcodeproj .xcworkspace .sparsebundle .appdir"
)
# Windows opens such a name by the class, whatever stands before it.
_CLASS = re.compile(r"\.\{[0-9a-f-]{36}\}")
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
    suffix = _suffix(last)
    if any(part.startswith(".") for part in parts) or last in _SETTINGS:
        return "settings, which programs obey where they lie"
    bundle = next((part for part in parts[:-1] if _suffix(part) in _BUNDLES), "")
    if bundle:
        return f"a part of a bundle ({_suffix(bundle)}), which is opened as one program"
    if any(_CLASS.search(part) for part in parts):
        return "a shortcut (a class in its name), which opens something else"
    if suffix in _SETTING_SUFFIXES or last.endswith(_CONFIGURES):
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


def _suffix(name: str) -> str:
    """Return the suffix of a name, with its dot; "" if there is none."""
    return "".join(name.rpartition(".")[1:]) if "." in name else ""
