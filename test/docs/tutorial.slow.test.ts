import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { startModel } from '../../fixtures/model/model.ts';
import { AGENTS_BIN, missing } from '../support/agents/agents.ts';
import { type Block, readBlocks } from '../support/document.ts';
import { confirm } from '../support/terminals/dash.ts';
import { openReader, type Reader } from '../support/terminals/reader.ts';
import { hasTmux, openTerminal, withTmux } from '../support/terminals/terminal.ts';
import { makeRepository } from '../support/workspaces/git.ts';

const URL = 'https://github.com/pypa/sampleproject.git';

/** The parts of the cloned repository that the tutorial relies on: a function, a test, and the test command. */
const FILES = {
  'src/sample/__init__.py': '',
  'src/sample/simple.py': 'def add_one(number):\n    return number + 1\n',
  'tests/__init__.py': '',
  'tests/test_simple.py': `import unittest

from sample.simple import add_one


class TestSimple(unittest.TestCase):
    def test_add_one(self):
        self.assertEqual(add_one(5), 6)
`,
  '.gitignore': '__pycache__/\n',
};

/** Text that each line of keys must show before the next one is pressed. */
const SHOWS: Record<string, string | RegExp> = {
  '.': '▶t-2',
  'a y': 'd-2 approved: s-2 starts on t-2',
  Enter: 'no conflicts',
  'p m': 'nothing was pushed',
};
const QUESTIONS: Record<string, string> = {
  a: 'Approve d-2 and start adder on t-2?',
  p: 'Promote svc/s-2 into main?',
};

/** Presses the keys of a block in the dashboard: the first words of each line, up to its remark. */
async function press(reader: Reader, { text }: Block): Promise<void> {
  const { cwd, env } = await reader.look();
  const terminal = await openTerminal({ command: ['svc'], cwd, env, columns: 140, rows: 40 });
  try {
    await terminal.shows('engine ok');
    for (const line of text.trim().split('\n')) {
      const keys = line.replace(/#.*/, '').trim();
      const [first = '', second] = keys.split(' ');
      if (second === undefined) terminal.keys(first);
      else {
        const question = QUESTIONS[first] ?? assert.fail(`no question follows ${first}`);
        await confirm(terminal, [first, second], question, SHOWS[keys]!);
      }
      if (SHOWS[keys] !== undefined) await terminal.shows(SHOWS[keys]);
    }
    assert.equal((await terminal.exited()).status, 0);
  } finally {
    await terminal.close();
  }
}

const blocks = readBlocks('docs/start/tutorial.md');
const isForClaude = ({ words }: Block): boolean => words.includes('claude');

/**
 * A reader who can clone the repository. With SVC_TEST_CLONE it is the real one, which needs a network or a mirror at
 * that address.
 */
async function openStudent(t: TestContext, env: Record<string, string> = {}): Promise<Reader> {
  const real = process.env.SVC_TEST_CLONE;
  const repository = makeRepository();
  t.after(repository.remove);
  if (real === undefined) repository.commit(FILES, 'sample project');
  return openReader(t, { clones: { [URL]: real ?? repository.root }, programs: AGENTS_BIN, env });
}

const KEYS = blocks.findIndex(({ language }) => language === 'keys');

/** Runs the page in order, or only the blocks that `isFor` selects for this reader. */
async function follow(reader: Reader, isFor: (block: Block) => boolean): Promise<void> {
  await reader.follow(blocks.slice(0, KEYS).filter(isFor));
  await press(reader, blocks[KEYS]!);
  await reader.follow(blocks.slice(KEYS + 1).filter(isFor));
}

describe('the tutorial runs as written', () => {
  test(
    'the tutorial works with an agent of the reader, and the keys of the dashboard',
    withTmux,
    async (t) => {
      await follow(await openStudent(t), (block) => !isForClaude(block));
    },
  );

  const skip = hasTmux() ? missing('claude') : withTmux.skip;
  test('the tutorial works to its end with the real claude', { skip }, async (t) => {
    const edit = "printf '\\n\\ndef add_four(number):\\n    return number + 4\\n' >> src/sample/simple.py";
    const command = `${edit} && git commit -qam 'Add add_four'`;
    const model = await startModel({
      script: {
        when: 'Add add_four',
        steps: [{ call: 'Bash', arguments: { command, description: 'Write it' } }, { say: 'It is there.' }],
      },
    });
    t.after(model.close);
    const reader = await openStudent(t, {
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'stands for the login',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    });
    await follow(reader, () => true);
    assert.deepEqual(model.failures, []);
  });
});
