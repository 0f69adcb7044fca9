import { RETRY_MARK } from '../streams/opencode.ts';
import { type AgentHooks, HOOK_TIMEOUT_SEC } from './hooks.ts';
import type { RunWish } from './preset.ts';

/** Its own names of events; the tools are the ones behind them. */
const MOMENTS = {
  'pre-write': { name: 'tool.execute.before', matcher: 'write|edit|multiedit|patch|apply_patch' },
  'post-tool': { name: 'tool.execute.after' },
  'pre-compact': { name: 'experimental.session.compacting' },
  'session-start': { name: 'session.compacted' },
} as const satisfies AgentHooks['moments'];

/** The functions of the plugin that run hooks and read their answers. */
const HELPERS = `function run(event, input) {
  const hook = HOOKS[event];
  if (hook === undefined) return Promise.resolve('');
  return new Promise((resolve) => {
    try {
      const child = spawn(hook.command, hook.args, { cwd: input.cwd, stdio: ['pipe', 'pipe', 'ignore'] });
      const late = setTimeout(() => {
        child.kill('SIGKILL');
        resolve('');
      }, ${HOOK_TIMEOUT_SEC * 1000});
      let out = '';
      child.stdout.on('data', (part) => { out += part; });
      child.stdin.on('error', () => {});
      child.on('error', () => { clearTimeout(late); resolve(''); });
      child.on('close', (code) => { clearTimeout(late); resolve(code === 0 ? out.trim() : ''); });
      child.stdin.end(JSON.stringify(input));
    } catch {
      resolve('');
    }
  });
}

function parsed(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

const contextOf = (text) => {
  const answer = parsed(text);
  return answer.hookSpecificOutput?.additionalContext ?? '';
};

const outputOf = (text) => parsed(text).hookSpecificOutput?.updatedToolOutput;
`;

/**
 * Builds a plugin for opencode, for one run or a permanent installation. It reports when opencode waits for a limit,
 * which its own stream does not, on standard error since in ACP standard output belongs to the protocol. With hooks
 * it runs their commands at each event as claude would, with the same JSON in and out. Failures inside it are
 * ignored: the agent continues.
 */
export const buildOpencodePlugin = (
  hooks: RunWish['hooks'],
): string => `import { spawn } from 'node:child_process';

const HOOKS = ${JSON.stringify(hooks ?? {})};
const WRITES = new Set(${JSON.stringify(MOMENTS['pre-write'].matcher.split('|'))});

${HELPERS}
export const Svc = async ({ directory }) => {
  const held = new Map();
  // Pending text for after a compaction, by session: also sent with a result, which stays in the conversation.
  const after = new Map();
  const hooks = {
    event: async ({ event }) => {
      try {
        const sessionID = event.properties?.sessionID;
        if (event.type === '${MOMENTS['session-start'].name}' && sessionID)
          after.set(sessionID, run('session-start', {
            hook_event_name: 'SessionStart',
            session_id: sessionID,
            cwd: directory,
            source: 'compact',
          }));
        const status = event.type === 'session.status' ? event.properties?.status : undefined;
        if (status?.type !== 'retry' || process.stderr.isTTY) return;
        const { attempt, message, next } = status;
        process.stderr.write(JSON.stringify({ type: '${RETRY_MARK}', attempt, message, next }) + '\\n');
      } catch {}
    },
  };
  if (Object.keys(HOOKS).length === 0) return hooks;
  const given = (name, { tool, sessionID, callID }, args) => ({
    hook_event_name: name,
    session_id: sessionID,
    cwd: directory,
    tool_name: tool,
    tool_input: args ?? {},
    tool_use_id: callID,
  });
  return {
    ...hooks,
    '${MOMENTS['pre-write'].name}': async (input, output) => {
      if (!WRITES.has(input.tool)) return;
      const text = await run('pre-write', given('PreToolUse', input, output?.args));
      const said = parsed(text).hookSpecificOutput;
      if (said?.permissionDecision === 'deny') throw new Error(said.permissionDecisionReason ?? 'denied');
      // Text cannot be added before a tool call, so it is added to its result.
      if (said?.additionalContext) held.set(input.callID, said.additionalContext);
    },
    '${MOMENTS['post-tool'].name}': async (input, output) => {
      const text = await run('post-tool', {
        ...given('PostToolUse', input, input.args),
        tool_response: output?.output,
      });
      const start = after.get(input.sessionID);
      after.delete(input.sessionID);
      const more = [held.get(input.callID), contextOf(await start), contextOf(text)].filter(Boolean);
      held.delete(input.callID);
      if (outputOf(text) !== undefined && output) output.output = outputOf(text);
      if (more.length > 0 && output) output.output = [output.output, ...more].join('\\n\\n');
    },
    '${MOMENTS['pre-compact'].name}': async (input, output) => {
      const text = await run('pre-compact', {
        hook_event_name: 'PreCompact',
        session_id: input?.sessionID,
        cwd: directory,
        trigger: 'auto',
      });
      if (text !== '') output?.context?.push(contextOf(text) || text);
    },
  };
};
`;

/** It has no entries: the plugin runs our commands. */
export const OPENCODE_HOOKS: AgentHooks = {
  moments: MOMENTS,
  listEntries: () => [],
  buildPlugin: buildOpencodePlugin,
};
