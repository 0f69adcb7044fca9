import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createEntitlements, type LeaseFacts } from '../../../../engine/core/access/entitlements.ts';

const LEASE: LeaseFacts = {
  state: 'valid',
  entitlements: {
    plan: 'free',
    quotas: { projects: 2, workspaces: 3, people: 5 },
    capabilities: ['catch_url_n8n'],
  },
  from: 'server',
  endsAt: Date.UTC(2026, 10, 23),
  leftMs: 60 * 3600_000,
  clockOffsetMs: 0,
  problem: null,
};
const NONE: LeaseFacts = {
  ...LEASE,
  state: 'none',
  entitlements: null,
  from: null,
  endsAt: null,
  leftMs: null,
  clockOffsetMs: null,
};

function reader(facts: { lease?: LeaseFacts; isLinked?: boolean; needs?: boolean; mayBeUnlinked?: boolean }) {
  const { lease = LEASE, isLinked = true, needs = false, mayBeUnlinked = false } = facts;
  return createEntitlements({
    linked: () => (isLinked ? { server: 'https://svc.example', account: 'home', person: 'ann' } : null),
    lease: () => lease,
    isLeaseRequired: needs,
    mayBeUnlinked,
    listProjects: () => ['app', 'api', 'docs'],
  });
}

it("the quota of projects counts the entries in the order of the file, and never the workspace's own project", () => {
  const { findLock, status } = reader({});
  assert.deepEqual(
    [null, 'app', 'api', 'docs'].map((project) => findLock(project)?.code ?? null),
    [null, null, null, 'quota_exceeded'],
  );
  assert.partialDeepStrictEqual(status().quotas[0], {
    name: 'projects',
    limit: 2,
    used: 3,
    locked: ['docs'],
  });
  const expired = reader({ lease: { ...LEASE, state: 'expired' } });
  assert.equal(
    expired.findLock('docs')?.code,
    'quota_exceeded',
    'an unreachable server does not change the plan',
  );
});

it('an unlinked workspace has no quota, and all local features', () => {
  const { findLock, status } = reader({ isLinked: false, lease: NONE });
  assert.equal(findLock('docs'), null);
  const { linked, plan, quotas, capabilities, lease } = status();
  assert.deepEqual([linked, plan, lease.state, lease.note], [false, null, 'none', null]);
  assert.ok(quotas.every(({ limit, locked }) => limit === null && locked.length === 0));
  const allowed = capabilities.filter((each) => each.allowed).map(({ name }) => name);
  assert.ok(allowed.includes('local_webhooks') && allowed.includes('workers'));
  assert.ok(
    capabilities.filter((each) => !each.allowed).every(({ why }) => why === 'it needs a linked server'),
  );
});

it('a dispatch needs a valid lease only where one is required', () => {
  for (const state of ['none', 'expired', 'invalid', 'revoked'] as const) {
    const lease = { ...NONE, state };
    assert.equal(reader({ lease, needs: true }).findLock(null)?.code, 'lease_required', state);
    assert.equal(reader({ lease }).findLock(null), null, state);
    assert.equal(reader({ lease, needs: true, mayBeUnlinked: true }).findLock(null)?.code, 'lease_required');
    assert.equal(reader({ lease, needs: true, mayBeUnlinked: true, isLinked: false }).findLock(null), null);
  }
  assert.equal(reader({ needs: true }).findLock(null), null);
});

it('the end of a lease is announced a day ahead, with the reason why it was not renewed', () => {
  const noteOf = (lease: LeaseFacts): string | null => reader({ lease }).status().lease.note;
  assert.equal(noteOf(LEASE), null);
  assert.equal(
    noteOf({ ...LEASE, leftMs: 20 * 3600_000, problem: 'the server does not answer' }),
    'the lease ends in 20 h: the server does not answer',
  );
  assert.match(noteOf({ ...LEASE, state: 'expired' }) ?? '', /has expired/);
});
