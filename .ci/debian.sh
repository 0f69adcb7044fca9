#!/usr/bin/env bash
# Installs the Debian packages that the tests need: bubblewrap for strict workers, strace for system calls, tmux for the
# dashboard, script(1) for other terminals, git extensions for repository layouts, PostgreSQL and a browser for the
# linked server, shells for completion, nats-server for other machines, iproute2 and nftables for networks between them,
# sshd to reach them, gh for code hosts, systemd and Caddy for an installed server, busybox for tools without the options
# of GNU, ntfs-3g for a folder without case, Ruby and Nix for the syntax of docs/packaging. If it cannot install them, it
# prints a message and exits with 0: the tests report what they skip.
set -euo pipefail

declare -A packages=([bwrap]=bubblewrap [strace]=strace [tmux]=tmux [script]=bsdutils [git-crypt]=git-crypt [git-lfs]=git-lfs [pg_ctlcluster]=postgresql [chromium]=chromium [fish]=fish [zsh]=zsh [nats-server]=nats-server [ip]=iproute2 [nft]=nftables [sshd]=openssh-server [gh]=gh [systemd-analyze]=systemd [caddy]=caddy [busybox]=busybox [lowntfs-3g]=ntfs-3g [ruby]=ruby [nix-instantiate]=nix-bin)
wanted=()
for program in "${!packages[@]}"; do
  PATH="$PATH:/usr/sbin" command -v "$program" > /dev/null || wanted+=("${packages[$program]}")
done
[ "${#wanted[@]}" -gt 0 ] || exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get > /dev/null; then
  echo "debian.sh: not installed because root or apt-get is missing: ${wanted[*]}" >&2
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get install -y -qq "${wanted[@]}" > /dev/null 2>&1 ||
  { apt-get update -qq && apt-get install -y -qq "${wanted[@]}"; } ||
  echo "debian.sh: cannot install ${wanted[*]}" >&2
