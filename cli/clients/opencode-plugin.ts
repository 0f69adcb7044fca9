/**
 * The plugin that stands between OpenCode and `svc hook`, which speaks with it as with claude. `SVC_WORDS` is the
 * command. Whatever goes wrong in it is our own affair: only a refusal may reach the agent.
 */
export const PLUGIN = `// Made by svc hooks install opencode; svc hooks remove opencode removes it.
import { spawn } from 'node:child_process';

const [program, ...words] = SVC_WORDS;

function ask(event, input, cwd) {
  return new Promise((resolve) => {
    try {
      const child = spawn(program, [...words, 'hook', event, '--agent', 'opencode'], {
        cwd,
        stdio: ['pipe', 'pipe', 'ignore'],
        timeout: 10_000,
      });
      let text = '';
      child.stdout.on('data', (part) => (text += part));
      child.on('error', () => resolve(''));
      child.on('close', () => resolve(text.trim()));
      child.stdin.on('error', () => undefined);
      child.stdin.end(JSON.stringify({ cwd, ...input }));
    } catch {
      resolve('');
    }
  });
}

const said = (text) => {
  try {
    return JSON.parse(text).hookSpecificOutput ?? {};
  } catch {
    return {};
  }
};

export const SvcHooks = async ({ directory }) => {
  const held = new Map();
  return {
    'tool.execute.before': async ({ tool, callID }, { args }) => {
      if (!/write|edit|patch/.test(tool)) return;
      const answer = said(await ask('pre-write', { tool_name: tool, tool_input: args }, directory));
      if (answer.permissionDecision === 'deny') throw new Error(answer.permissionDecisionReason);
      if (answer.additionalContext) held.set(callID, answer.additionalContext);
    },
    'tool.execute.after': async ({ tool, callID, args }, output) => {
      const before = held.get(callID);
      held.delete(callID);
      const { additionalContext } = said(await ask('post-tool', { tool_name: tool, tool_input: args }, directory));
      for (const text of [before, additionalContext]) if (text) output.output += '\\n\\n' + text;
    },
    'experimental.session.compacting': async (_, output) => {
      const text = await ask('pre-compact', {}, directory);
      if (text !== '') output.context.push(text);
    },
  };
};
`;
