#!/bin/sh
# Installs the executable of a release, for Linux and macOS. docs/start.md describes the options.
#
#   curl -fsSL https://github.com/watchkeeper/watchkeeper/releases/latest/download/install.sh | sh

set -eu

# GENERATED from package.json by `npm run generate`: the script of a release installs this release.
version=0.1.0

repository=watchkeeper/watchkeeper
releases=https://github.com/$repository/releases
directory=
attestation=optional

usage() {
  cat << 'EOF'
Usage: install.sh [--version VERSION] [--to DIRECTORY] [--from URL] [--require-attestation]

  --version VERSION       the release to install [default: the release of this script]
  --to DIRECTORY          where to install [default: ~/.local/bin]
  --from URL              a copy of the project's releases, for networks without access to GitHub
  --require-attestation   fail if the attestation cannot be verified, which needs the GitHub CLI, logged in
EOF
}

say() { printf '%s\n' "$*"; }

fail() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 1
}

has() { command -v "$1" > /dev/null 2>&1; }

main() {
  read_options "$@"
  archive=watchkeeper-$(find_platform).tar.gz || exit
  location=$releases/download/v$version
  [ -n "$directory" ] || directory=${HOME:?install.sh: HOME is not set. Name a directory with --to.}/.local/bin

  umask 022
  downloads=$(mktemp -d) || fail 'Cannot create a temporary directory. Set TMPDIR to a directory that you can write to.'
  staged=
  trap clean_up EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM

  say "Downloading $archive of watchkeeper $version"
  download "$location/SHA256SUMS" "$downloads/SHA256SUMS"
  download "$location/$archive" "$downloads/$archive"
  verify_checksum
  verify_attestation
  install_executable
}

read_options() {
  while [ $# -gt 0 ]; do
    case $1 in
      --version | --to | --from)
        [ -n "${2:-}" ] || fail "$1 needs a value. Run install.sh --help."
        case $1 in
          --version) version=${2#v} ;;
          --to) directory=$2 ;;
          --from) releases=${2%/} ;;
        esac
        shift 2
        ;;
      --require-attestation)
        attestation=required
        shift
        ;;
      -h | --help)
        usage
        exit 0
        ;;
      *) fail "Unknown option $1. Run install.sh --help." ;;
    esac
  done
  case $version in
    *[!0-9A-Za-z.-]* | [!0-9]* | *..*) fail "--version: $version is not a version such as 1.2.3." ;;
    *.*.*) ;;
    *) fail "--version: $version is not a version such as 1.2.3." ;;
  esac
  case $releases in
    *@*) fail '--from: the address must not have a user, whose host could be mistaken for another.' ;;
    https://*) protocol='=https' ;;
    http://127.0.0.1:* | http://localhost:*) protocol='=http' ;;
    *) fail "--from: $releases is not an https address." ;;
  esac
}

find_platform() {
  machine=$(uname -m)
  case $(uname -s) in
    Linux) system=linux ;;
    Darwin)
      system=macos
      # A shell that runs under Rosetta sees an Intel processor.
      if [ "$(sysctl -n sysctl.proc_translated 2> /dev/null)" = 1 ]; then machine=arm64; fi
      ;;
    *) fail "There is no executable for $(uname -s) in this script. For Windows, download the zip file from $releases." ;;
  esac
  case $machine in
    x86_64 | amd64) processor=x64 ;;
    aarch64 | arm64) processor=arm64 ;;
    *) fail "There is no executable for $machine. Install the npm package with Node 24." ;;
  esac
  say "$system-$processor"
}

download() {
  if has curl; then
    curl --fail --silent --show-error --location --retry 3 --proto "$protocol" --proto-redir "$protocol" --output "$2" "$1" && return
  elif has wget; then
    # Its --https-only is about recursive downloads. Here, a redirect to http ends at a proxy that does not exist.
    [ "$protocol" = '=http' ] || export http_proxy=http://127.0.0.1:9
    wget -q -O "$2" "$1" && return
  else
    fail 'Neither curl nor wget is installed.'
  fi
  fail "Cannot download $1. Is $version a release? See $releases."
}

sha256_of() {
  if has sha256sum; then
    sha256sum "$1"
  elif has shasum; then
    shasum -a 256 "$1"
  elif has openssl; then
    openssl dgst -sha256 -r "$1"
  else
    fail 'The checksum cannot be verified, because sha256sum, shasum and openssl are not installed.'
  fi
}

verify_checksum() {
  expected=
  while read -r sum name; do
    if [ "$name" = "$archive" ]; then expected=$sum; fi
  done < "$downloads/SHA256SUMS"
  [ -n "$expected" ] || fail "SHA256SUMS of release $version does not list $archive. Nothing was installed."
  actual=$(sha256_of "$downloads/$archive") || exit
  [ "${actual%% *}" = "$expected" ] || fail "The checksum of $archive is ${actual%% *}, not $expected. Nothing was installed. Try again later."
  say 'The checksum is correct.'
}

# Older versions of gh lack the option for the tag.
can_verify() {
  has gh || return 1
  case $(gh attestation verify --help 2> /dev/null) in
    *--source-ref*) gh auth status --hostname github.com > /dev/null 2>&1 ;;
    *) return 1 ;;
  esac
}

# The checksum finds damaged files. Only the attestation shows that the release workflow built the file.
verify_attestation() {
  if can_verify; then
    gh attestation verify "$downloads/$archive" --repo "$repository" \
      --signer-workflow "$repository/.github/workflows/release.yml" --source-ref "refs/tags/v$version" > "$downloads/verified" 2>&1 || {
      cat "$downloads/verified" >&2
      fail "The attestation of $archive could not be verified. Nothing was installed."
    }
    say 'The attestation is correct: the release workflow built this file.'
  elif [ "$attestation" = required ]; then
    fail 'The attestation can only be verified with a recent GitHub CLI (gh), logged in. Nothing was installed.'
  else
    say 'The attestation was not verified, because the GitHub CLI (gh) is not installed, too old or not logged in.'
  fi
}

install_executable() {
  mkdir -p "$directory" 2> /dev/null || fail "Cannot create $directory. Name a directory of yours with --to. This script does not use sudo."
  [ -w "$directory" ] || fail "Cannot write to $directory. Name a directory of yours with --to. This script does not use sudo."
  target=$directory/watchkeeper
  [ ! -d "$target" ] || fail "$target is a directory."
  # In the same directory, so that the last step is a rename: there is always either the old executable or the new one.
  staged=$(mktemp "$directory/.watchkeeper.XXXXXX") || fail "Cannot write to $directory."
  tar -xzf "$downloads/$archive" -O watchkeeper > "$staged" || fail "Cannot write $staged."
  chmod 755 "$staged"
  runs=$("$staged" --version 2> "$downloads/error") || {
    cat "$downloads/error" >&2
    fail "The executable does not run on this system. It needs glibc 2.28 or newer, and libstdc++. On Alpine, install the npm package. Nothing was installed."
  }
  [ "$runs" = "$version" ] || fail "The executable has version $runs, not $version. Nothing was installed."
  mv -f "$staged" "$target"
  staged=
  say "Installed watchkeeper $version to $target"
  case :${PATH:-}: in
    *:"$directory":*) ;;
    *) say "$directory is not in PATH. Add it, or run $target." ;;
  esac
}

clean_up() {
  rm -rf "$downloads"
  if [ -n "$staged" ]; then rm -f "$staged"; fi
}

# In one command at the end, so that a script of which only a part arrived does nothing.
main "$@"
