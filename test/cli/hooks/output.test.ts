import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { readOutput, replaceOutput } from '../../../cli/hooks/outputs.ts';
import { type EngineHost, hostEngine } from '../../../engine/index.ts';
import { type CorpusFile, readCorpus } from '../../support/gateway/corpus.ts';
import { until } from '../../support/wait.ts';
import { type EngineHere, engineHere } from '../../support/workspaces/engine.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../../support/workspaces/workspace.ts';

/** Returns what an agent receives of a tool's output. */
interface Heard {
  hookSpecificOutput?: {
    hookEventName?: string;
    additionalContext?: string;
    updatedToolOutput?: unknown;
  };
  decision?: string;
  reason?: string;
  modifiedResult?: { resultType: string; textResultForLlm: string };
  additionalContext?: string;
}

describe('svc hook post-tool and a long output', () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  let host: EngineHost;
  let transcript: string;
  const noise = readCorpus('noise').find(({ text }) => text.length > 8000) as CorpusFile;
  const source = readCorpus('content').find(({ text }) => text.length > 5000) as CorpusFile;
  const ada = { seat: 'plain', sessionId: 'ada' } as const;
  const set = (key: string, value: string) => here.call('config.set', { key, value });
  before(async () => {
    ws = await makeWorkspace();
    here = await engineHere(ws);
    host = await hostEngine(here.engine);
    await here.join('ada');
    mkdirSync(join(ws.root, 'logs'));
    transcript = join(ws.root, 'logs', 'transcript.jsonl');
    const item = { type: 'CommandExecution', id: 'call-1', aggregated_output: noise.text, exit_code: 3 };
    writeFileSync(transcript, `{}\n${JSON.stringify({ payload: { type: 'item_completed', item } })}\n`);
    await set('context.hooks.post_tool', 'true');
  });
  after(async () => {
    await host.close();
    await ws.close();
  });

  async function hook(agent: string, sent: object): Promise<Heard | null> {
    const env = { ...ws.env, SVC_SESSION: 'ada' };
    const child = spawn(process.execPath, [SVC, 'hook', 'post-tool', '--agent', agent], {
      cwd: ws.root,
      env,
    });
    child.stdin.end(JSON.stringify({ cwd: ws.root, tool_name: 'Bash', ...sent }));
    const said = await readAll(child.stdout);
    return said === '' ? null : (JSON.parse(said) as Heard);
  }
  /** A hook that is too late prints nothing, so on a busy machine it is called again. */
  const heardOf = (agent: string, sent: object): Promise<Heard> =>
    until(() => hook(agent, sent), `what ${agent} is told`);
  const retrieve = async (text: string): Promise<string> => {
    const [id = ''] = /c-[0-9a-f]{10,}/.exec(text) ?? [];
    return (await here.call('context.retrieve', { id }, ada)).text;
  };

  /** Location of the output in each agent's input, and of the replacement in its answer. */
  const FORMS: { agent: string; sent(text: string): object; taken(heard: Heard): string | undefined }[] = [
    {
      agent: 'claude',
      sent: (stdout) => ({
        hook_event_name: 'PostToolUse',
        tool_response: { stdout, stderr: '', interrupted: false, isImage: false },
      }),
      taken: ({ hookSpecificOutput: said }) => {
        assert.ok(said !== undefined);
        const { stdout, ...rest } = said.updatedToolOutput as { stdout: string };
        assert.deepEqual(rest, { stderr: '', interrupted: false, isImage: false });
        return stdout;
      },
    },
    {
      agent: 'codex',
      sent: (text) => ({ tool_response: text, tool_use_id: 'call-1', transcript_path: transcript }),
      taken({ decision, reason }) {
        assert.equal(decision, 'block');
        assert.match(reason ?? '', /^Process exited with code 3\nOutput:\n/);
        return reason;
      },
    },
    {
      agent: 'opencode',
      sent: (text) => ({ tool_name: 'bash', tool_response: text }),
      taken: ({ hookSpecificOutput: said }) => said?.updatedToolOutput as string,
    },
    {
      agent: 'copilot',
      sent: (text) => ({ tool_result: { result_type: 'success', text_result_for_llm: text } }),
      taken: ({ modifiedResult }) => modifiedResult?.textResultForLlm,
    },
  ];
  for (const { agent, sent, taken } of FORMS)
    test(`${agent} gets the shortened output, with no fact lost and the whole behind its id`, async () => {
      const text = taken(await heardOf(agent, sent(noise.text))) ?? '';
      assert.ok(text.length < noise.text.length / 2, `${text.length} of ${noise.text.length}`);
      assert.deepEqual(
        noise.facts.filter((fact) => !text.includes(fact)),
        [],
      );
      assert.equal(await retrieve(text), noise.text);
    });

  /** Agents that accept no other output, and outputs that are not replaced. */
  const TOLD: { who: string; agent: string; sent: object; told(heard: Heard): string | undefined }[] = [
    {
      who: 'claude, after a tool that failed,',
      agent: 'claude',
      sent: { hook_event_name: 'PostToolUseFailure', error: noise.text },
      told({ hookSpecificOutput: said }) {
        assert.equal(said?.hookEventName, 'PostToolUseFailure');
        return said?.additionalContext;
      },
    },
    {
      who: 'codex, where the exit code is not known,',
      agent: 'codex',
      sent: { tool_response: noise.text, tool_use_id: 'call-2', transcript_path: '/nowhere' },
      told: ({ hookSpecificOutput: said }) => said?.additionalContext,
    },
    {
      who: 'gemini',
      agent: 'gemini',
      sent: { tool_name: 'run_shell_command', tool_response: { llmContent: noise.text } },
      told: ({ hookSpecificOutput: said }) => said?.additionalContext,
    },
  ];
  for (const { who, agent, sent, told } of TOLD)
    test(`${who} keeps the output, and gets its id`, async () => {
      const heard = await heardOf(agent, sent);
      assert.equal(heard.decision, undefined);
      const text = told(heard) ?? '';
      assert.match(text, /All but \d+ of the \d+ bytes .* repeat/);
      assert.equal(await retrieve(text), noise.text);
    });

  test('a message is delivered with the shortened output', async () => {
    const said = await until(async () => {
      // A message to a hook that was too late is not delivered to another one.
      await here.call('msg.send', { to_session: 'ada', body: 'port 8790' });
      const heard = await heardOf('claude', FORMS[0]?.sent(noise.text) ?? {});
      return /port 8790/.test(heard.hookSpecificOutput?.additionalContext ?? '') && heard.hookSpecificOutput;
    }, 'the message');
    assert.notEqual(said.updatedToolOutput, undefined);
  });

  test('short outputs, content, protected tools and opted-out outputs are left alone', async () => {
    const claude = FORMS[0]?.sent as (text: string) => object;
    assert.equal(await hook('claude', claude('all 3 tests passed\n')), null);
    assert.equal(await hook('claude', claude(source.text)), null);
    assert.equal(await hook('claude', { ...claude(noise.text), tool_name: 'Read' }), null);
    assert.equal(
      await hook('claude', { ...claude(noise.text), tool_name: 'mcp__svc__context_retrieve' }),
      null,
    );
    await set('context.guidance.protect_tools', '["bash"]');
    assert.equal(await hook('claude', claude(noise.text)), null);
    await set('context.guidance.protect_tools', '[]');
    await set('context.hooks.post_tool', 'false');
    assert.equal(await hook('claude', claude(noise.text)), null);
    await set('context.hooks.post_tool', 'true');
  });

  test('a stored output is returned whole by every command that reads it', async () => {
    for (const [agent, sent] of [
      ['claude', { ...FORMS[0]?.sent(noise.text), tool_input: { command: 'svc context get c-4f9 | cat' } }],
      [
        'opencode',
        { tool_name: 'bash', tool_response: noise.text, tool_input: { command: 'cat c-0123456789ab' } },
      ],
      [
        'codex',
        {
          ...FORMS[1]?.sent(noise.text),
          tool_name: 'shell',
          tool_input: { command: ['bash', '-lc', 'X=1 ./svc context --workspace . get c-4f9'] },
        },
      ],
      [
        'copilot',
        { ...FORMS[3]?.sent(noise.text), toolArgs: JSON.stringify({ command: 'svc context get 4f9' }) },
      ],
    ] as const)
      assert.equal(await hook(agent, sent), null, agent);
  });

  test('an output is a stub without crushing, and has no id without storing', async () => {
    const sent = (text: string) => ({ tool_name: 'bash', tool_response: text });
    const opencode = (text: string) => heardOf('opencode', sent(text));
    const other = `${noise.text}\nonce more\n`;
    await set('context.guidance.crush', 'false');
    const stub = String((await opencode(other)).hookSpecificOutput?.updatedToolOutput);
    assert.match(stub, /^\[svc-stored: c-/);
    assert.equal(await retrieve(stub), other);
    await set('context.guidance.externalize', 'false');
    assert.equal(await hook('opencode', sent(other)), null);
    await set('context.guidance.crush', 'true');
    const left = String((await opencode(`${other}!`)).hookSpecificOutput?.updatedToolOutput);
    assert.match(left, /run the command again\]/);
    assert.doesNotMatch(left, /context_retrieve/);
    await set('context.guidance.externalize', 'true');
  });

  test('the saving is booked to the session', async () => {
    const { savings } = await here.call('context.stats', { session: 'ada' });
    const found = savings.find(({ tool }) => tool === 'post_tool_hook');
    assert.ok(found !== undefined && found.calls >= 6 && found.bytes_out < found.bytes_in / 2);
  });
});

test('an output in an unknown form is neither read nor replaced', () => {
  for (const agent of ['claude', 'codex', 'gemini', 'qwen', 'opencode', 'copilot', 'kimi', 'toString'])
    for (const sent of [{}, { tool_response: [1], tool_result: null }, { tool_response: { stdout: 7 } }])
      assert.equal(readOutput(agent, sent), null, agent);
  const image = { tool_response: { stdout: 'x', isImage: true } };
  assert.equal(readOutput('claude', image), null);
  const output = { text: 'x', exitCode: null, isReplaceable: false };
  assert.equal(replaceOutput('claude', image, 'y', output), null);
});
