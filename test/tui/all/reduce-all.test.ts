import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { getLayout } from '../../../tui/layout/layout.ts';
import { type AllBench, allBench } from '../../support/terminals/all-dashboard.tsx';
import { askRow, decisionRow, engineStatus, sessionRow, taskRow } from '../../support/terminals/dashboard.ts';

const withDecisions = (self: AllBench, name: string, ...ids: number[]): AllBench =>
  self.data(name, {
    tasks: ids.map((id) => taskRow(id)),
    decisions: ids.map((id) => decisionRow(id, { title: `${name} ${id}` })),
    status: engineStatus(),
  });
const textOf = (self: AllBench): string => self.screen().join('\n');
const marksOf = (self: AllBench, name: string): string[] => [...self.of(name).lists.work.marks.keys()];

describe('the rows of several workspaces', () => {
  const make = (): AllBench => {
    const self = allBench();
    withDecisions(self, 'alpha', 1, 2);
    return withDecisions(self, 'gamma', 1, 2);
  };

  it('the rows are in one list, each next to its workspace, and the cursor goes through all of them', () => {
    const self = make();
    assert.match(textOf(self), /▶alpha +t-1 .*\n.*alpha +t-2 .*\n.*gamma +t-1 .*\n.*gamma +t-2/);
    assert.match(textOf(self), /1 of 4/);
    const seen = ['j', 'j', 'j', 'j', 'k', 'k', 'k', 'G', 'g'].map((key) => self.keys(key).selected());
    assert.deepEqual(seen, [
      ...['alpha t-2', 'gamma t-1', 'gamma t-2', 'gamma t-2'],
      ...['gamma t-1', 'alpha t-2', 'alpha t-1', 'gamma t-2', 'alpha t-1'],
    ]);
    assert.equal(self.burst('j', 'j', 'j').selected(), 'gamma t-2');
  });

  it('a click selects a row of any workspace, a second one opens it, and a click on a tab goes to its list', () => {
    const self = make();
    assert.equal(self.click(/gamma +t-2/).selected(), 'gamma t-2');
    assert.equal(self.click(/alpha +t-2/).selected(), 'alpha t-2');
    assert.match(textOf(self), /2 of 4/);
    assert.equal(self.click(/needs you 4/).selected(), 'alpha t-2');
    self.showDecisions('alpha', 2).click(/▶alpha/);
    assert.equal(self.of('alpha').view, 'full');
    assert.match(textOf(self), /alpha · t-2/);
    assert.equal(self.click(/5 Memory/).of('alpha').focus, 'memories');
    self.click(/1 Work/);
    assert.deepEqual([self.active(), self.selected()], ['alpha', 'alpha t-2']);
    assert.deepEqual(self.calls(), []);
  });

  it('a click finds its row in a list that is scrolled', () => {
    const self = allBench(['alpha', 'beta'], [80, 24]);
    withDecisions(self, 'alpha', 1, 2, 3, 4, 5, 6);
    withDecisions(self, 'beta', ...Array.from({ length: 30 }, (_, index) => index + 1));
    self.keys('G');
    const first = /beta +(t-\d+) /.exec(self.screen()[4]!)![1]!;
    assert.notEqual(first, 't-1');
    assert.equal(self.click(new RegExp(` ${first} `)).selected(), `beta ${first}`);
  });

  it("other lists show the rows of the cursor's workspace, which they name", () => {
    const self = make().keys('G', '2');
    assert.match(textOf(self), /2 Bus · gamma/);
    assert.equal(self.keys('1').selected(), 'gamma t-2');
    assert.equal(self.of('alpha').focus, 'work', 'other workspaces show no messages, so the key is ignored');
  });

  it('rows that arrive above the cursor move neither it nor the screen', () => {
    const self = allBench(['alpha', 'beta'], [80, 24]);
    withDecisions(self, 'beta', ...Array.from({ length: 30 }, (_, index) => index + 1));
    self.keys('j', 'j', 'j', 'j', 'j', 'j', 'j', 'j');
    const place = (): number => self.screen().findIndex((line) => line.includes('▶beta'));
    const before = place();
    withDecisions(self, 'alpha', 1, 2, 3);
    assert.equal(self.selected(), 'beta t-9');
    assert.equal(place(), before);
    assert.match(textOf(self), /12 of 33/);
  });

  it('a removed row gives the cursor to its neighbour, and keys that act wait for a moment', () => {
    const self = make().keys('j', 'j');
    self.showDecisions('gamma', 1, 2).showDecisions('alpha', 1, 2);
    self.data('gamma', {
      decisions: [1, 2].map((id) => decisionRow(id, { state: 'denied' })),
      tasks: [1, 2].map((id) => taskRow(id, { status: 'failed', archived_at: '2026-03-01T12:00:00Z' })),
    });
    assert.equal(self.selected(), 'alpha t-2');
    self.burst('a');
    assert.match(textOf(self), /the selection has just moved/);
    assert.equal(self.of('alpha').armed, null);
    self.keys('a');
    assert.match(textOf(self), /alpha: Approve d-2/);
  });

  it('the rows are filtered and sorted together, and keep their places until the next sort', () => {
    const self = make().keys('/', 'd', '-', '2', 'enter');
    assert.match(textOf(self), /1 of 2/);
    assert.deepEqual([self.selected(), self.keys('j').selected()], ['alpha t-2', 'gamma t-2']);
    self.keys('esc');
    assert.match(textOf(self), /4 of 4/);
    self.keys('>', '^');
    assert.match(textOf(self), /alpha +t-2 .*\n.*alpha +t-1 .*\n.*gamma +t-2 .*\n.*gamma +t-1/);
  });

  it('the rows are marked in one workspace at a time, so that a question covers all marks', () => {
    const self = make().keys('space', 'space');
    assert.deepEqual([marksOf(self, 'alpha'), marksOf(self, 'gamma')], [['t-1', 't-2'], []]);
    self.keys('j', 'space');
    assert.deepEqual([marksOf(self, 'alpha'), marksOf(self, 'gamma')], [[], ['t-1']]);
  });
});

describe('deciding among several workspaces', () => {
  it('deciding asks with two keys, names the workspace, and calls its engine', () => {
    const self = allBench();
    for (const name of ['alpha', 'beta'] as const) {
      withDecisions(self, name, 1);
      self.showDecisions(name, 1);
    }
    self.keys('j', 'a');
    assert.match(textOf(self), /beta: Approve d-1 and start claude on t-1\?/);
    assert.deepEqual(self.calls(), []);
    self.keys('y');
    assert.deepEqual(
      self.calls().map(({ workspace, operation }) => [workspace, operation]),
      [['beta', 'decision.approve']],
    );
  });

  it('a question stays about its own row, with any change in another workspace', () => {
    const self = allBench();
    withDecisions(self, 'beta', 1);
    self.showDecisions('beta', 1).keys('a');
    assert.notEqual(self.of('beta').armed, null);
    withDecisions(self, 'alpha', 1, 2, 3, 4, 5, 6, 7, 8);
    self.data('alpha', { decisions: [decisionRow(1, { state: 'denied' })] });
    self.tell('gamma', { type: 'link', link: { phase: 'lost', since: 0, reason: 'gone' } });
    assert.equal(self.active(), 'beta');
    assert.notEqual(self.of('beta').armed, null);
    self.keys('y');
    assert.deepEqual(
      self.calls().map(({ workspace }) => workspace),
      ['beta'],
    );
  });

  it('a key opens details that do not fit, counting the rows of all workspaces', () => {
    const heights = [1, 40].map((count) => {
      const self = allBench(['alpha', 'beta'], [80, 24]);
      withDecisions(self, 'alpha', 1);
      withDecisions(self, 'beta', ...Array.from({ length: count }, (_, index) => index + 1));
      const boxes = getLayout(self.of('alpha')).columns.flat();
      const drawn = self.screen().findIndex((line) => line.startsWith('╭─ alpha · t-1'));
      assert.equal(drawn, 2 + (boxes[0]?.height ?? 0), "the preview is at its workspace's expected position");
      return boxes[0]?.height ?? 0;
    });
    assert.ok(heights[1]! > heights[0]!, String(heights));
  });

  it("an engine's answer is shown with its name after the cursor went elsewhere", () => {
    const self = allBench();
    for (const name of ['alpha', 'beta'] as const) withDecisions(self, name, 1);
    self.showDecisions('alpha', 1).keys('a', 'y', 'j');
    assert.match(textOf(self), /alpha: .*d-1/);
    self.tell('alpha', { type: 'refused', busy: 'd-1', text: 'd-1 was decided meanwhile' });
    assert.match(textOf(self), /✗ alpha: d-1 was decided meanwhile/);
    assert.equal(self.active(), 'beta');
    self.keys('esc');
    assert.doesNotMatch(textOf(self), /decided meanwhile/);
  });
});

describe('pending rows of several workspaces', () => {
  it('one key goes through the questions of all, then decisions, then work to review', () => {
    const self = allBench();
    self.data('alpha', { sessions: [sessionRow(4)], asks: [askRow(1)] });
    withDecisions(self, 'gamma', 1);
    withDecisions(self, 'beta', 1, 2);
    self.keys('2', '.');
    const seen = [self.selected(), ...Array.from({ length: 5 }, () => self.keys('.').selected())];
    const at = seen.indexOf('alpha ask-1');
    const cycle = [...seen.slice(0, 5).slice(at), ...seen.slice(0, at)];
    assert.deepEqual(cycle, ['alpha ask-1', 'beta t-1', 'gamma t-1', 'beta t-2', 'alpha t-4']);
    assert.match(textOf(self), /5 need you/);
  });

  it('the key reports nothing pending only for known workspaces', () => {
    const self = allBench().keys('.');
    assert.match(textOf(self), /nothing waits for you in any workspace$/m);
    self.tell('beta', { type: 'link', link: { phase: 'lost', since: 0, reason: 'no engine runs' } });
    assert.match(textOf(self.keys('.')), /nothing waits in the connected workspaces; 1 of 3 do not/);
  });
});

describe('engines that come and go', () => {
  it('engines that leave are reported, their rows stay and take no keys that act, and the others continue', () => {
    const self = allBench();
    for (const name of ['alpha', 'beta'] as const) {
      withDecisions(self, name, 1);
      self.showDecisions(name, 1);
    }
    self.tell('beta', { type: 'link', link: { phase: 'lost', since: 0, reason: 'the connection ended' } });
    assert.match(textOf(self), /beta: its engine is not running \(the connection ended\)/);
    assert.match(textOf(self), /2 engines ok · 1 stopped/);
    assert.match(textOf(self), /✗ beta +t-1/);
    assert.equal(self.selected(), 'alpha t-1');
    self.keys('j', 'a');
    assert.match(textOf(self), /beta: ENGINE GONE/);
    assert.match(textOf(self), /the engine is not running; u starts it/);
    self.keys('u');
    assert.deepEqual(
      self.effects().map(({ file, effect }) => [file, effect.do]),
      [['/home/beta/svc.yaml', 'start-engine']],
    );
    self.keys('k', 'a');
    assert.match(textOf(self), /alpha: Approve d-1/);
    self.keys('esc').tell('beta', { type: 'link', link: { phase: 'live', since: 0, reason: null } });
    assert.match(textOf(self), /beta: its engine is running/);
  });

  it('new workspaces are added at the end', () => {
    const self = allBench(['alpha', 'beta']);
    withDecisions(self, 'beta', 1);
    self.add('alpha', 'aardvark');
    assert.match(textOf(self), /new here: aardvark/);
    self.tell('aardvark', { type: 'link', link: { phase: 'live', workspace: 'aardvark', root: '/' } });
    withDecisions(self, 'aardvark', 1);
    assert.equal(self.selected(), 'beta t-1');
    assert.equal(self.keys('j').selected(), 'aardvark t-1');
  });
});

describe('going to one workspace', () => {
  it('W chooses one, which is shown alone, and leads back', () => {
    const self = allBench();
    for (const name of ['alpha', 'beta'] as const) withDecisions(self, name, 1);
    self.keys('W');
    assert.match(textOf(self), /═ Workspaces ═.*3 ═/);
    assert.match(textOf(self), /▶alpha +running +1 +0 +\/home\/alpha/);
    self.burst('j', 'enter');
    assert.equal(self.all().isAlone, false, 'a burst of keys only moves');
    self.keys('enter');
    assert.match(textOf(self), /^ svc · beta \(W all\)/);
    assert.doesNotMatch(textOf(self), /alpha/);
    assert.equal(self.keys('j', 'j').selected(), 'beta t-1');
    self.keys('W');
    assert.match(textOf(self), /alpha +t-1/);
    assert.equal(self.selected(), 'beta t-1');
  });

  it('Esc, q and W close the chooser and leave everything as it is', () => {
    for (const key of ['esc', 'q', 'W']) {
      const self = allBench().keys('W', 'j', key);
      assert.deepEqual([self.all().chooser, self.all().isAlone, self.active()], [null, false, 'alpha']);
      assert.deepEqual(self.effects(), []);
    }
  });

  it('workspaces of the same name, and names with any characters, can be distinguished', () => {
    const self = allBench(['alpha', '\u001b[31mred\u0007\n', 'x'.repeat(80)]);
    self.add('alpha');
    for (const name of ['alpha', '\u001b[31mred\u0007\n', 'x'.repeat(80)]) withDecisions(self, name, 1);
    const lines = self.screen();
    assert.ok(
      lines.every((line) => !/[\u0000-\u001f]/.test(line) && line.length <= 80),
      lines.join('\n'),
    );
    assert.match(textOf(self.keys('W')), /red/);
  });
});

describe('the screen of several workspaces', () => {
  for (const size of [
    [40, 10],
    [60, 15],
    [80, 24],
    [140, 40],
    [200, 50],
  ] as const)
    it(`the screen fits ${size.join('x')} with many rows, in every list and in the chooser`, () => {
      const names = Array.from({ length: 25 }, (_, index) => `workspace-${index}`);
      const self = allBench(names as [string, ...string[]], size);
      for (const name of names.slice(0, 20)) withDecisions(self, name, 1, 2, 3);
      self.data('workspace-3', { sessions: [sessionRow(1)], asks: [askRow(1)] });
      for (const key of ['1', '2', '3', '4', '5', '6', '7', '8', 'M', 'S', '2', 'z', 'z', 'W', 'G']) {
        const lines = self.keys(key).screen();
        assert.equal(lines.length, size[1], key);
        assert.ok(
          lines.every((line) => [...line].length <= size[0]),
          `${key}\n${lines.join('\n')}`,
        );
      }
    });
});

describe('leaving several workspaces', () => {
  it('leaving asks while a form of any workspace waits to reopen', () => {
    const self = allBench(['alpha', 'beta']).keys('q');
    assert.deepEqual(
      self.effects().map(({ effect }) => effect.do),
      ['quit'],
    );
    const form = { kind: 'reason', decision: 'd-1', hash: 'h', input: { value: 'no', caret: 2 } } as const;
    self.tell('beta', { type: 'refused', busy: 'd-1', text: 'no engine', form });
    self.keys('q');
    assert.match(textOf(self), /^ *Quit and lose what you wrote in 1 form that was not sent\?/m);
    self.keys('y');
    assert.equal(self.effects().filter(({ effect }) => effect.do === 'quit').length, 2);
  });
});
