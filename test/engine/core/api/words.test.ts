import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCommand } from '../../../../cli/catalogue.ts';
import { toKebabCase } from '../../../../cli/command.ts';
import { isTool, toolName } from '../../../../engine/core/api/tool.ts';
import { renderWords, type SentenceReader } from '../../../../engine/core/api/words.ts';
import { SvcError } from '../../../../engine/core/base/errors.ts';
import {
  nameCommand,
  type OperationMention,
  parameterOf,
  Sentence,
  sentence,
} from '../../../../engine/core/base/sentence.ts';
import { fromWireError } from '../../../../engine/core/base/wire-error.ts';
import { errorToWire } from '../../../../engine/daemon/wire.ts';
import { nameKey } from '../../../../tui/keymap/name-key.ts';
import { sentencesInSource } from '../../../support/sentences.ts';
import { engineHere } from '../../../support/workspaces/engine.ts';
import { makeWorkspace } from '../../../support/workspaces/workspace.ts';

const READERS: readonly SentenceReader[] = ['commands', 'tools', 'anyone'];

test('each interface gets its own name for an operation', () => {
  const said = sentence`{worker.kill ${'s-3'}} ends it; then {task.run ${'t-3'}} runs it again`;
  assert.equal(renderWords(said, 'commands'), 'svc stop s-3 ends it; then svc task run t-3 runs it again');
  assert.equal(renderWords(said, 'tools'), 'svc stop s-3 ends it; then task_run t-3 runs it again');
  assert.equal(
    renderWords(said, 'anyone'),
    '`svc stop s-3` ends it; then `task_run t-3` or `svc task run t-3` runs it again',
  );
  assert.equal(said.render(nameKey), 'x (stop) on s-3 ends it; then r (run) on t-3 runs it again');
  const options = sentence`leave {input.to_session} out; {worktree.promote ${'s-3'} strategy=rebase}`;
  assert.equal(renderWords(options, 'commands'), 'leave --to-session out; svc merge s-3 --strategy rebase');
  assert.equal(renderWords(options, 'tools'), 'leave to_session out; worktree_promote s-3 strategy=rebase');
});

test('braces in a value have no meaning, wherever the value is', () => {
  const hostile = '{task.run t-1} } {';
  for (const reader of READERS) {
    assert.equal(renderWords(hostile, reader), hostile);
    assert.equal(renderWords(sentence`${hostile} holds it`, reader), `${hostile} holds it`);
    assert.ok(
      renderWords(sentence`{task.show ${hostile}} shows it`, reader).includes(`task show '${hostile}'`),
    );
  }
  const nested = sentence`${sentence`{task.list}`} shows ${hostile}`;
  assert.equal(renderWords(nested, 'tools'), `task_list shows ${hostile}`);
});

test('an unknown interface gets the names of the command line', () => {
  const said = sentence`{task.list} shows them`;
  assert.equal(`${said}`, 'svc task list shows them');
  assert.equal(JSON.stringify({ hint: said }), '{"hint":"svc task list shows them"}');
});

test('a sentence crosses the socket whole, and is plain text for a client that does not know of it', () => {
  const error = new SvcError('not_found', 'no task t-9', {
    hint: sentence`{task.list} shows them, {not.this}`,
  });
  const wire = JSON.parse(JSON.stringify(errorToWire(error))) as ReturnType<typeof errorToWire>;
  assert.equal(wire.data.hint, 'svc task list shows them, svc not this');
  const back = fromWireError(wire);
  assert.ok(back.hint instanceof Sentence);
  assert.equal(renderWords(back.hint, 'tools'), 'task_list shows them, svc not this');
  assert.deepEqual(back.data, {});
  for (const parts of [
    'x',
    3,
    [3],
    [{}],
    [{ operation: 'task.run' }],
    [{ operation: 3, on: [], options: {} }],
  ]) {
    const hint = fromWireError({
      message: 'm',
      data: { code: 'conflict', hint: 'as text', hint_parts: parts },
    }).hint;
    assert.equal(hint, 'as text', JSON.stringify(parts));
  }
});

test('every operation that a sentence names exists, and has a name for each interface', async (t) => {
  const ws = await makeWorkspace();
  t.after(() => ws.close());
  const { engine, close } = await engineHere(ws);
  t.after(close);
  const operations = new Map(engine.operations.all.map((each) => [each.name as string, each]));
  const inputs = [...operations.values()].flatMap((each) =>
    Object.keys((each.input as { shape?: object }).shape ?? {}),
  );
  const found = sentencesInSource();
  const mentions = found.flatMap(({ file, said }) =>
    said.parts.flatMap((part): { file: string; mention: OperationMention }[] =>
      typeof part === 'string' ? [] : [{ file, mention: part }],
    ),
  );
  assert.ok(mentions.length > 60, String(mentions.length));
  for (const { file, mention } of mentions) {
    const where = `${file}: ${JSON.stringify(mention)}`;
    const parameter = parameterOf(mention);
    if (parameter !== null) {
      assert.ok(inputs.includes(parameter), where);
      continue;
    }
    const operation = operations.get(mention.operation);
    assert.ok(operation !== undefined, where);
    const words = nameCommand(mention).split(' ').slice(1);
    const command = await findCommand(words);
    assert.ok(command !== null && !command.command.hidden, where);
    const flags = Object.keys(command.command.flags ?? {}).map((name) => `--${toKebabCase(name)}`);
    for (const word of words.filter((each) => each.startsWith('--'))) assert.ok(flags.includes(word), where);
    assert.ok(mention.on.length <= (command.command.args ?? []).length, where);
    if (!isTool(operation)) continue;
    const taken = Object.keys((operation.input as unknown as { shape: object }).shape);
    for (const name of Object.keys(mention.options)) assert.ok(taken.includes(name), where);
    assert.ok(renderWords(new Sentence([mention]), 'tools').startsWith(toolName(mention.operation)), where);
  }
  for (const { file, said } of found) {
    const texts = [...READERS.map((reader) => renderWords(said, reader)), said.render(nameKey), `${said}`];
    for (const text of texts) assert.doesNotMatch(text, /[{}]|\[object|undefined/, `${file}: ${text}`);
  }
});
