import assert from 'node:assert/strict';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { RequestPermissionRequest } from '@agentclientprotocol/sdk';
import { createPathCheck } from '../../../cli/acp/path-check.ts';
import { createPermissions } from '../../../cli/acp/permission.ts';
import { createTranscript } from '../../../cli/acp/transcript.ts';
import { DEFAULT_PERMISSIONS } from '../../../engine/workers/agents/permissions.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';

const ONCE = { optionId: 'once', kind: 'allow_once', name: 'Allow' } as const;
const ALWAYS = { optionId: 'always', kind: 'allow_always', name: 'Always' } as const;
const NO = { optionId: 'no', kind: 'reject_once', name: 'No' } as const;

describe('a permission request', () => {
  let cwd: string;
  before(() => {
    cwd = temporaryFolder();
    mkdirSync(join(cwd, 'in', 'src'), { recursive: true });
    symlinkSync('..', join(cwd, 'in', 'up'));
    symlinkSync(join(cwd, 'not-there'), join(cwd, 'in', 'dangling'));
    writeFileSync(join(cwd, 'out.txt'), '');
  });
  after(() => rmSync(cwd, { recursive: true, force: true }));

  /** Returns the answer to a call, and whether a person was asked, who never answers. */
  async function answered(
    toolCall: object,
    {
      options = [ONCE, NO],
      permissions = DEFAULT_PERMISSIONS,
      isCancelled = false,
    }: {
      options?: readonly object[];
      permissions?: readonly string[];
      isCancelled?: boolean;
    } = {},
  ): Promise<{ option: string | null; isAsked: boolean }> {
    let isAsked = false;
    const print = () => undefined;
    const folder = join(cwd, 'in');
    const answer = createPermissions({
      link: {
        async call(name: string) {
          if (name === 'worker.permissions') return { permissions, folder };
          isAsked = true;
          return { status: 'timeout', answer: null, by: null };
        },
      } as never,
      transcript: createTranscript({ print, cwd: folder, clean: (text) => text }),
      print,
      agent: () => 'an agent',
      cwd: folder,
      reserved: [],
      signal: new AbortController().signal,
    });
    const given = isCancelled ? AbortSignal.abort() : new AbortController().signal;
    const request = { sessionId: 's', toolCall: { toolCallId: 'c', ...toolCall }, options };
    const { outcome } = await answer(request as unknown as RequestPermissionRequest, given);
    return { option: outcome.outcome === 'selected' ? outcome.optionId : null, isAsked };
  }

  const diff = (path: string) => ({ type: 'diff', path, oldText: '', newText: 'x' });

  test('a request is granted only once', async () => {
    assert.deepEqual(await answered({ kind: 'edit', locations: [{ path: 'src/a' }] }), {
      option: 'once',
      isAsked: false,
    });
    const always = await answered(
      { kind: 'edit', locations: [{ path: 'src/a' }] },
      { options: [ALWAYS, NO] },
    );
    assert.deepEqual(always, { option: 'no', isAsked: true });
  });

  test('a request with a change is treated as a change, regardless of the kind it names', async () => {
    const permissions = ['read', 'think'];
    for (const kind of permissions) {
      const call = { kind, locations: [{ path: 'src/a' }], content: [diff('src/a')] };
      assert.deepEqual(await answered(call, { permissions }), { option: 'no', isAsked: true }, kind);
    }
    const both = { kind: 'read', locations: [{ path: 'src/a' }], content: [diff('src/a')] };
    assert.equal((await answered(both, { permissions: ['read', 'edit'] })).isAsked, false);
    assert.equal((await answered(both, { permissions: ['read', 'edit:docs'] })).isAsked, true);
  });

  test('a request covers every path that it names, however deep', async () => {
    for (const call of [
      { locations: [{ path: 'src/a' }], content: [diff('../out.txt')] },
      { locations: [{ path: 'src/a' }], rawInput: { edits: [{ file_path: '../out.txt' }] } },
      { locations: [{ path: 'src/a' }], rawInput: { changes: { one: { path: join(cwd, 'out.txt') } } } },
      { locations: [{ path: 'up/out.txt' }] },
      { locations: [{ path: 'dangling' }] },
      { locations: [{ path: `file://${cwd}/out.txt` }] },
      { locations: [{ path: `FILE://${cwd}/in/%2e%2e/out.txt` }] },
      { locations: [{ path: 'src/../../out.txt' }] },
      { locations: [{ path: '.git/config' }] },
    ])
      assert.deepEqual(
        await answered({ kind: 'edit', ...call }),
        { option: 'no', isAsked: true },
        JSON.stringify(call),
      );
  });

  test('a request that offers no refusal, or comes after the turn, is withdrawn', async () => {
    const outside = { kind: 'edit', locations: [{ path: '../out.txt' }] };
    assert.equal((await answered(outside, { options: [ONCE] })).option, null);
    assert.equal((await answered(outside, { options: [] })).option, null);
    const late = await answered({ kind: 'edit', locations: [{ path: 'src/a' }] }, { isCancelled: true });
    assert.equal(late.option, null);
  });

  test('a request names a path as a file read would see it', () => {
    const inside = createPathCheck(join(cwd, 'in'), join(cwd, 'in', 'src'));
    assert.equal(inside('a'), 'src/a');
    assert.equal(inside('../src'), 'src');
    for (const path of ['../..', 'http://x/y', '~/x', 'file://host/x', '..', 'a\0b'])
      assert.ok([null, '.'].includes(inside(path)), path);
  });
});
