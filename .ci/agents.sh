#!/usr/bin/env bash
# Installs real agent programs and the inspector of the model context protocol into .cache/agents, for test/agents. They
# are run against nothing but this machine.
set -euo pipefail
cd "$(dirname "$0")/.."
# Their install scripts and some of the programs need the node of this project, not an older one of the machine.
export PATH="$PWD/node_modules/.bin:$PATH"
mkdir -p .cache/agents
npm install --prefix .cache/agents --no-audit --no-fund --no-save \
  @openai/codex@0.169.0 \
  @qwen-code/qwen-code@0.24.4 \
  @anthropic-ai/claude-code@2.1.330 \
  opencode-ai@1.18.33 \
  @modelcontextprotocol/inspector@2.12.0
# An installation whose own script did not run is found here and not in the middle of the tests.
mkdir -p .cache/agents/home
for program in codex qwen claude opencode; do
  echo "$program $(HOME="$PWD/.cache/agents/home" ".cache/agents/node_modules/.bin/$program" --version 2> /dev/null | tail -n 1)"
done
