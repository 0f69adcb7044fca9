import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { act, openDash } from '../support/terminals/dash.ts';
import { withTmux } from '../support/terminals/terminal.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';
import { AGENT } from '../support/workspaces/workspace.ts';

const sayLine = (content: object): string =>
  `#agent: say ${JSON.stringify({ type: 'assistant', message: { id: 'm-1', role: 'assistant', content: [content] } })}`;

const todoItem = (content: string, status: string) => ({ content, activeForm: content, status });

describe('a running worker on the screen', withTmux, () => {
  it("the screen shows a worker's actions live; A enters it when it has ended, and every key goes there", async (t) => {
    const bin = temporaryFolder('svc-bin-');
    t.after(() => rmSync(bin, { recursive: true, force: true }));
    writeFileSync(
      join(bin, 'claude'),
      `#!/bin/sh
for last; do :; done
case " $* " in *' -- '*) ;; *) [ -t 0 ] || last=$(cat);; esac
case "$last" in *'#agent:'*) exec '${process.execPath}' '${AGENT}' -- "$last";; esac
echo 'the agent is here'
for each in 1 2 3; do read -r line; echo "heard $line"; done
exit "$line"
`,
      { mode: 0o755 },
    );
    const { workspace, terminal } = await openDash(t, {
      commands: { claude: `'${join(bin, 'claude')}' -- {{prompt}}` },
      env: { PATH: `${bin}:${process.env.PATH}` },
    });
    await terminal.shows('Nothing waits for you');
    const client = await workspace.connect();
    const body = [
      'look around',
      sayLine({ type: 'tool_use', id: 'u-1', name: 'Read', input: { file_path: 'first.ts' } }),
      `#agent: wait-for ${join(bin, 'go')}`,
      sayLine({
        type: 'tool_use',
        id: 'u-2',
        name: 'TodoWrite',
        input: { todos: [todoItem('read it', 'completed'), todoItem('write it', 'in_progress')] },
      }),
      sayLine({ type: 'tool_use', id: 'u-3', name: 'Edit', input: { file_path: 'second.ts' } }),
      `#agent: wait-for ${join(bin, 'end')}`,
      `#agent: say ${JSON.stringify({ type: 'result', subtype: 'success', is_error: false, result: 'done' })}`,
    ].join('\n');
    const task = await client.call('task.add', { body, agent: 'claude' });
    await client.call('task.run', { id: task.task_id });
    await terminal.shows(/▶t-1 .*read first\.ts/);
    await act(terminal, 'A');
    await terminal.shows('attach: s-1 is running: its agent works alone');
    writeFileSync(join(bin, 'go'), '');
    await terminal.shows(/▶t-1 .*edit second\.ts/);
    await terminal.shows(/▣ read it.*\n.*▷ write it/);
    writeFileSync(join(bin, 'end'), '');
    await terminal.shows(/▶t-1 +ready/);
    for (const [before, code] of ['0', '3'].entries()) {
      await act(terminal, 'A');
      // The first run's output is still there when the dashboard leaves.
      await terminal.shows(new RegExp(`(the agent is here[^]*){${before + 1}}`));
      // The dashboard must not read any of these keys.
      terminal.type('qx\nay\n');
      await terminal.shows(/heard qx\n(?:.*\n)*heard ay/);
      terminal.type(`${code}\n`);
      if (code === '0') await terminal.shows('you have left s-1');
    }
    await terminal.shows('Press Enter to return to the dashboard.');
    terminal.keys('Enter');
    await terminal.shows('svc worker attach s-1 ended with exit code 3');
    await terminal.shows('[1 Work');
  });
});
