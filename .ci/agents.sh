#!/usr/bin/env bash
# Installs real agent programs and the inspector of the model context protocol into .cache/agents, for test/agents. They
# are run against nothing but this machine. `.ci/agents.sh claude codex` installs those only; what is there already in its
# version is left alone. SVC_AGENTS_DIR is another folder for them.
set -euo pipefail
cd "$(dirname "$0")/.."
# What the machine's npm is told for everybody (a certificate, a mirror) lies beside its own node.
npm_config_globalconfig="${npm_config_globalconfig:-$(npm config get globalconfig)}"
export npm_config_globalconfig
# Their install scripts and some of the programs need the node of this project, not an older one of the machine.
export PATH="$PWD/node_modules/.bin:$PATH"
folder="${SVC_AGENTS_DIR:-$PWD/.cache/agents}"

# Each by the name of its program.
declare -A packages=(
  [claude]=@anthropic-ai/claude-code@2.1.330
  [codex]=@openai/codex@0.169.0
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
    echo "agents.sh: nothing is known of $program; known are: ${!packages[*]}" >&2
    exit 2
  fi
  is_there "$program" || wanted+=("${packages[$program]}")
done

if [ "${#wanted[@]}" -gt 0 ]; then
  mkdir -p "$folder"
  # What an earlier installation brought is named again: npm takes away what nobody asks for.
  for program in "${!packages[@]}"; do is_there "$program" && wanted+=("${packages[$program]}"); done
  npm install --prefix "$folder" --no-audit --no-fund --no-save "${wanted[@]}"
fi

# An installation whose own script did not run is found here and not in the middle of the tests.
mkdir -p "$folder/home"
failed=0
for program in "${order[@]}"; do
  case "$program" in claude-agent-acp | mcp-inspector) is_there "$program" && echo "$program is there" && continue ;; esac
  # Anything but the person's own folder, and nothing new on the way.
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
