import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  describeRun,
  explainSvc,
  quoteTask,
  recallEarlierRun,
} from '../../../engine/dispatch/texts/index.ts';
import { composeText, type TextContributor, type TextSource } from '../../../engine/dispatch/texts/texts.ts';

const source = {
  session: { sessionId: 's-1', workerId: 'w-1', agent: 'claude', timeoutSec: 60 },
  task: { taskId: 't-1', title: 'Mend it', prompt: 'Mend it.\n\n', ledger: null, acceptanceCriteria: [] },
  placement: { cwd: '/w', worktree: '/w', branch: 'svc/s-1', base: 'main', baseCommit: 'c0ffee' },
  svc: null,
  earlier: null,
} as unknown as TextSource;

const OURS = [describeRun(), ...quoteTask(), explainSvc(), ...recallEarlierRun()];

function compose(text: TextContributor['text'], more: TextContributor[], changes: Partial<TextSource> = {}) {
  const warnings: object[] = [];
  const log = { warn: (facts: object) => void warnings.push(facts) };
  const composed = composeText({ contributors: [...more, ...OURS], log }, text, { ...source, ...changes });
  return { composed, warnings };
}

test('a brief has a section for each who has something to say, and none for the others', () => {
  const { composed } = compose('brief', []);
  assert.equal(
    composed,
    [
      '# t-1: Mend it',
      '',
      '- session: s-1 (worker w-1, agent claude)',
      '- folder: /w',
      '- branch: svc/s-1, from main',
      '- time: at most 60 s',
      '- commit your work on this branch; uncommitted changes are kept as a work-in-progress commit',
      '',
      'Mend it.',
      '',
    ].join('\n'),
  );
});

test('another contributor speaks in its section, wherever it stands in the list', () => {
  const memory: TextContributor = {
    name: 'memory',
    text: 'brief',
    section: 'context',
    write: ({ task }) => [`## Known of ${task.taskId}`, '', 'It broke before.'],
  };
  const { composed } = compose('brief', [memory], { svc: '/run/bin/svc' });
  const [task, known, help] = [
    'Mend it.\n\n',
    '\n\n## Known of t-1\n\nIt broke before.\n\n',
    '## You are not alone',
  ].map((part) => composed.indexOf(part));
  assert.ok(task! > 0 && known! > task! && help! > known!, composed);
  assert.ok(!compose('resumption', [memory]).composed.includes('Known of'));
});

test('a contributor that fails is left out and logged, and silences nobody', () => {
  const broken: TextContributor = {
    name: 'broken',
    text: 'brief',
    section: 'facts',
    write() {
      throw new Error('no');
    },
  };
  const { composed, warnings } = compose('brief', [broken]);
  assert.equal(composed, compose('brief', []).composed);
  assert.equal(warnings.length, 1);
});

test('a run that goes on is told its task again only where its agent does not remember it', () => {
  const earlier = { cause: 'rate limited', isRemembered: true, commits: null, followed: null };
  assert.equal(
    compose('resumption', [], { earlier }).composed,
    'You were interrupted. The reason: rate limited. Resume your task where you stopped; check git status first.\n',
  );
  const commits = Array.from({ length: 22 }, (_, at) => ({
    id: `${at}`.padEnd(40, '0'),
    subject: `change ${at}`,
  }));
  const { composed } = compose('resumption', [], {
    earlier: { cause: null, isRemembered: false, commits, followed: null },
  });
  assert.ok(
    composed.startsWith('Mend it.\n\n---\nAn earlier run of this task was interrupted. You are'),
    composed,
  );
  assert.ok(composed.endsWith('change 19\n- and 2 more\n'), composed);
  const none = { cause: null, isRemembered: false, commits: [], followed: null };
  assert.ok(compose('resumption', [], { earlier: none }).composed.endsWith('\nNothing was committed yet.\n'));
});

test('a run that follows up with another task is told that task first, and what it goes on with', () => {
  const followed = { taskId: 't-7', title: 'Build it' };
  const knows = { cause: null, isRemembered: true, commits: null, followed };
  assert.equal(
    compose('resumption', [], { earlier: knows }).composed,
    'Mend it.\n\n---\nThis follows up your work on t-7, in the same folder and on the same branch; check git status first.\n',
  );
  const commits = [{ id: 'a'.repeat(40), subject: 'built' }];
  const { composed } = compose('resumption', [], { earlier: { ...knows, isRemembered: false, commits } });
  assert.match(
    composed,
    /^Mend it\.\n\n---\nThis follows up the work on t-7 \(Build it\)\. You are in its folder/,
  );
  assert.ok(composed.endsWith('- aaaaaaaaaa built\n'), composed);
});
