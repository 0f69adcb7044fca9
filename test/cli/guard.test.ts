import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

const SUMS = `export function sumByDay(entries, zone) {
  const sums = new Map();
  for (const entry of entries) {
    if (entry.amount <= 0 || entry.isVoid) continue;
    const day = formatDay(entry.at, zone);
    const before = sums.get(day) ?? 0;
    sums.set(day, before + entry.amount * (1 + entry.tax / 100));
  }
  return [...sums].sort(([one], [other]) => (one < other ? -1 : 1));
}
`;

// biome-ignore lint/suspicious/noExplicitAny: each value is checked where it is read
type Parts = Record<string, any>;

/**
 * The requirements of the SARIF 2.1.0 schema for the parts in use: their members, without others, and their values.
 */
function checkSarif(log: unknown): void {
  const members = (value: unknown, needs: string[], may: string[] = []): Parts => {
    const names = Object.keys(value as object);
    for (const name of needs) assert.ok(names.includes(name), `${name} of ${names}`);
    for (const name of names) assert.ok([...needs, ...may].includes(name), name);
    return value as Parts;
  };
  const checkText = (value: unknown): void => assert.equal(typeof members(value, ['text']).text, 'string');
  const checkLocation = (value: unknown): void => {
    const { id = 0, physicalLocation } = members(value, ['physicalLocation'], ['id']);
    assert.ok(Number.isInteger(id) && id >= -1);
    const { artifactLocation, region } = members(physicalLocation, ['artifactLocation'], ['region']);
    const { uri } = members(artifactLocation, ['uri']);
    assert.match(uri, /^(?:[\w.~!$&'()*+,;=@/-]|%[0-9A-F]{2})+$/, 'a relative reference of RFC 3986');
    const { startLine, endLine } = members(region, ['startLine'], ['endLine']);
    assert.ok(Number.isInteger(startLine) && startLine >= 1 && endLine >= startLine);
  };
  const { version, runs } = members(log, ['version', 'runs'], ['$schema']);
  assert.equal(version, '2.1.0');
  for (const run of runs as unknown[]) {
    const { tool, results } = members(run, ['tool', 'results']);
    const { rules } = members(members(tool, ['driver']).driver, ['name', 'version', 'rules']);
    const ids = (rules as unknown[]).map((rule) => {
      const { id, shortDescription } = members(rule, ['id', 'shortDescription']);
      checkText(shortDescription);
      return id as string;
    });
    assert.equal(new Set(ids).size, ids.length);
    for (const result of results as unknown[]) {
      const { ruleId, ruleIndex, level, message, locations, relatedLocations } = members(
        result,
        ['ruleId', 'ruleIndex', 'level', 'message', 'locations', 'properties'],
        ['relatedLocations'],
      );
      assert.equal(ids[ruleIndex], ruleId);
      assert.ok(['none', 'note', 'warning', 'error'].includes(level));
      checkText(message);
      for (const each of [...locations, ...(relatedLocations ?? [])]) checkLocation(each);
    }
  }
}

describe('svc guard check', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace({ hosted: true, yaml: 'guard: { dup: { mode: block } }\n' });
    ws.repository.commit({ 'src/sums.js': SUMS }, 'Sums');
  });
  after(() => ws.close());

  test('svc guard check finds nothing without new text and exits with 0', async () => {
    const { code, stdout } = await ws.svc(['guard', 'check', '--range', 'HEAD~1..HEAD']);
    assert.deepEqual([code, stdout.trim()], [0, '0 copies in 1 file']);
  });

  test('svc guard check names the copy and the original, as text, JSON and SARIF, and exits with 3 where it would be refused', async () => {
    ws.repository.write('src/a copy.js', SUMS.replaceAll('entry', 'row'));
    const text = await ws.svc(['guard', 'check']);
    assert.equal(text.code, 3);
    assert.match(text.stdout, /^src\/a copy\.js:1-10 \(sumByDay\) repeats src\/sums\.js:1-10 \(sumByDay\)$/m);
    assert.match(
      text.stdout,
      /^ {2}the same except for names and literals, \d+ tokens, 100 % of the function$/m,
    );
    const json = await ws.svc(['guard', 'check', 'src', '--json']);
    assert.equal(json.code, 3);
    const report = JSON.parse(json.stdout);
    assert.deepEqual([report.files, report.copies.length, report.refused], [2, 1, true]);
    const sarif = await ws.svc(['guard', 'check', '--sarif']);
    const [run] = JSON.parse(sarif.stdout).runs;
    const [result] = run.results;
    assert.equal(run.tool.driver.rules[result.ruleIndex].id, result.ruleId);
    assert.deepEqual(
      [result.ruleId, result.level, result.locations[0].physicalLocation.artifactLocation.uri],
      ['copy-type-2', 'error', 'src/a%20copy.js'],
    );
    assert.deepEqual(result.locations[0].physicalLocation.region, { startLine: 1, endLine: 10 });
    checkSarif(JSON.parse(sarif.stdout));
    const none = await ws.svc(['guard', 'check', '--range', 'HEAD~1..HEAD', '--sarif']);
    checkSarif(JSON.parse(none.stdout));
  });

  test('svc guard check names files that it cannot check', async () => {
    const missing = await ws.svc(['guard', 'check', 'nothing.js']);
    assert.equal(missing.code, 0);
    assert.match(missing.stderr, /no sources of the project's own: nothing\.js/);
    assert.equal((await ws.svc(['guard', 'check', 'src', '--range', 'HEAD'])).code, 2);
    assert.match(
      (await ws.svc(['guard', 'check', '--range', 'no..where'])).stderr,
      /git knows no range no\.\.where/,
    );
    assert.equal((await ws.svc(['guard', 'check', '../elsewhere'])).code, 3);
  });
});
