#!/usr/bin/env bash
# Installs real agent programs into .cache/agents, for test/agents. They are run against nothing but this machine.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p .cache/agents
npm install --prefix .cache/agents --no-audit --no-fund --no-save @openai/codex@0.169.0 @qwen-code/qwen-code@0.24.4
