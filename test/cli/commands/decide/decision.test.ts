import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Decision, EditResult, Task, WireValue } from '../../../../engine/index.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

type Shown = { decision: WireValue<Decision>; task: WireValue<Task> };

describe('svc decision edit', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace();
    await ws.svc(['up']);
  });
  after(() => ws.close());

  const show = async (id: string): Promise<Shown> =>
    (await ws.svc(['decision', 'show', id, '--json'])).json<Shown>();
  const asked = async (prompt: string): Promise<string> => (await ws.post(prompt)).body.decision_id;

  test('the new prompt comes from an option or from standard input', async () => {
    const id = await asked('one');
    const edited = await ws.svc(['decision', 'edit', id, '--prompt', 'two', '--json']);
    assert.equal(edited.code, 0, edited.stderr);
    const { decision, task, changed } = edited.json<WireValue<EditResult>>();
    assert.deepEqual([changed, task.prompt, decision.state], [true, 'two', 'pending']);
    const again = await ws.svc(['decision', 'edit', decision.decision_id, '-p', '-'], { input: 'three\n' });
    assert.match(again.stdout, /^d-\d+ waits for t-\d+: three\n$/);
    assert.equal((await show(again.stdout.split(' ')[0] ?? '')).task.prompt, 'three\n');
    const late = await ws.svc(['decision', 'edit', id, '--prompt', 'four']);
    assert.equal(late.code, 5);
    assert.match(late.stderr, /hint: svc task show/);
  });

  test('an empty prompt, or none without a terminal, is a usage error', async () => {
    const id = await asked('one');
    const { code, stderr } = await ws.svc(['decision', 'edit', id], { env: { EDITOR: 'false' } });
    assert.equal(code, 2);
    assert.match(stderr, /no terminal/);
    assert.equal((await ws.svc(['decision', 'edit', id, '--prompt', '-'])).code, 2);
    assert.equal((await show(id)).decision.state, 'pending');
  });

  describe('editing on a terminal', { skip: spawnSync('script', ['-V']).status !== 0 }, () => {
    /** Runs the command line on a separate terminal, with a shell script as the editor. */
    function onTerminal(id: string, editor: string): Promise<{ code: number; out: string }> {
      const file = join(ws.repository.folder, 'editor.sh');
      writeFileSync(file, `#!/bin/sh\n${editor}\n`, { mode: 0o755 });
      const env = { ...ws.env, VISUAL: `sh '${file}'`, EDITOR: 'false', TMPDIR: ws.repository.folder };
      const words = [process.execPath, SVC, 'decision', 'edit', id].map((word) => `'${word}'`);
      return new Promise((resolve) => {
        const child = execFile(
          'script',
          ['--quiet', '--return', '--command', words.join(' '), '/dev/null'],
          { cwd: ws.root, env },
          (error, out) => resolve({ code: typeof error?.code === 'number' ? error.code : 0, out }),
        );
        child.stdin?.end();
      });
    }
    const left = (): string[] =>
      readdirSync(ws.repository.folder).filter((name) => name.startsWith('svc-edit'));

    test('the editor gets a private file, which is removed afterwards', async () => {
      const id = await asked('one\ntwo');
      const seen = join(ws.repository.folder, 'seen');
      const { code, out } = await onTerminal(
        id,
        `[ -t 0 ] && stat -c %a "$1" "$(dirname "$1")" > '${seen}'; cat "$1" >> '${seen}'; echo three >> "$1"`,
      );
      assert.equal(code, 0, out);
      assert.equal(readFileSync(seen, 'utf8'), '600\n700\none\ntwo\n');
      assert.match(out, /^d-\d+ waits for t-\d+: one/);
      assert.equal((await show(out.split(' ')[0] ?? '')).task.prompt, 'one\ntwo\nthree');
      assert.deepEqual(left(), []);
    });

    test('an unchanged text or a failed editor changes nothing', async () => {
      const id = await asked('one');
      // The editor adds the newline at the end of the file; it is not part of the prompt.
      const same = await onTerminal(id, 'tail -c 1 "$1" | od -c | grep -q "n"');
      assert.match(same.out, /: prompt unchanged/);
      const failed = await onTerminal(id, 'echo new > "$1"; exit 3');
      assert.equal(failed.code, 1);
      assert.match(failed.out, /ended with exit code 3; nothing was changed/);
      assert.deepEqual([(await show(id)).decision.state, left()], ['pending', []]);
    });

    test('keys meant for the editor do no harm, and a late edit is returned to the person', async () => {
      const id = await asked('one');
      const { code, out } = await onTerminal(
        id,
        `svc=$(cut -d ' ' -f 4 /proc/$PPID/stat)
         for signal in INT INT QUIT HUP; do kill -$signal $PPID $svc; done
         '${process.execPath}' '${SVC}' decision deny ${id} 'no longer' > /dev/null
         echo 'my long text' > "$1"`,
      );
      assert.equal(code, 5, out);
      assert.match(out, /my long text/);
      assert.match(out, /was denied/);
      assert.deepEqual(left(), []);
      assert.equal(existsSync(join(ws.repository.folder, 'core')), false);
    });

    test('a decision that is no longer pending is not opened in the editor', async () => {
      const id = await asked('one');
      await ws.svc(['decision', 'deny', id, 'no']);
      const opened = join(ws.repository.folder, 'opened');
      const { code } = await onTerminal(id, `touch '${opened}'`);
      assert.deepEqual([code, existsSync(opened)], [5, false]);
    });
  });
});
