#!/usr/bin/env bash
# Installs real agent programs and the MCP inspector into .cache/agents (or $SVC_AGENTS_DIR), for test/agents. The tests
# connect them only to this machine. `.ci/agents.sh claude codex` installs only these two; programs that are already
# installed in the pinned version are kept.
set -euo pipefail
cd "$(dirname "$0")/.."
# The global npm settings of the machine (a certificate, a mirror) are stored next to its own node.
npm_config_globalconfig="${npm_config_globalconfig:-$(npm config get globalconfig)}"
export npm_config_globalconfig
# Install scripts and some programs need this project's node, not an older one of the machine.
export PATH="$PWD/node_modules/.bin:$PATH"
folder="${SVC_AGENTS_DIR:-$PWD/.cache/agents}"

# Packages by program name.
declare -A packages=(
  [claude]=@anthropic-ai/claude-code@2.1.332
  [codex]=@openai/codex@0.171.0
  [gemini]=@google/gemini-cli@0.61.0
  [opencode]=opencode-ai@1.18.33
  [copilot]=@github/copilot@1.0.102
  [qwen]=@qwen-code/qwen-code@0.24.4
  [kimi]=@moonshot-ai/kimi-code@2.1.0
  [claude-agent-acp]=@agentclientprotocol/claude-agent-acp@0.100.0
  [mcp-inspector]=@modelcontextprotocol/inspector@2.12.0
)
order=(claude codex gemini opencode copilot qwen kimi claude-agent-acp mcp-inspector)
if [ "$#" -gt 0 ]; then order=("$@"); fi

is_there() {
  local package="${packages[$1]}"
  local manifest="$folder/node_modules/${package%@*}/package.json"
  [ -e "$folder/node_modules/.bin/$1" ] && grep -q "\"version\": *\"${package##*@}\"" "$manifest" 2> /dev/null
}

wanted=()
for program in "${order[@]}"; do
  if [ -z "${packages[$program]:-}" ]; then
    echo "agents.sh: unknown program $program; expected one of: ${!packages[*]}" >&2
    exit 2
  fi
  is_there "$program" || wanted+=("${packages[$program]}")
done

if [ "${#wanted[@]}" -gt 0 ]; then
  mkdir -p "$folder"
  # Includes the programs that are already installed: npm removes packages that the command does not name.
  for program in "${!packages[@]}"; do is_there "$program" && wanted+=("${packages[$program]}"); done
  npm install --prefix "$folder" --no-audit --no-fund --no-save "${wanted[@]}"
fi

# Detects here, before the tests, an installation whose install script did not run.
mkdir -p "$folder/home"
failed=0
for program in "${order[@]}"; do
  case "$program" in claude-agent-acp | mcp-inspector) is_there "$program" && echo "$program is installed" && continue ;; esac
  # Not in the person's own home, and without automatic updates.
  version="$(HOME="$folder/home" COPILOT_AUTO_UPDATE=false OPENCODE_DISABLE_AUTOUPDATE=1 DISABLE_AUTOUPDATER=1 \
    timeout 60 "$folder/node_modules/.bin/$program" --version 2> /dev/null < /dev/null | grep -v '^$' | head -n 1)" || true
  if [ -z "$version" ]; then
    echo "agents.sh: $program does not start" >&2
    failed=1
  else
    echo "$program $version"
  fi
done
exit "$failed"
