import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pendingDecision } from '../../../../engine/core/link-protocol/messages.ts';
import { joinSpans } from '../../../../engine/linked-server/chats/spans.ts';
import { sayDecision } from '../../../../engine/linked-server/chats/wording.ts';
import { makePendingDecision } from '../../../support/workspaces/pending-decision.ts';

const URL_OF_ISSUE = 'https://codehost.example/acme/shop/issues/12';

test('a message about a decision names the issue, its page and its author with the role', () => {
  const decision = makePendingDecision({
    ...{ source: 'codehost', author: 'codehost:ada', author_role: 'first_time_contributor' },
    ...{ reference: 'acme/shop#12', url: URL_OF_ISSUE },
  });
  const lines = sayDecision('shop', decision, { isWaiting: true, said: null }).map(joinSpans);
  assert.ok(lines.includes('From: the code host, codehost:ada (first time contributor)'), lines.join('\n'));
  assert.ok(lines.includes(`About: acme/shop#12 ${URL_OF_ISSUE}`), lines.join('\n'));
  const own = sayDecision('shop', makePendingDecision(), { isWaiting: true, said: null }).map(joinSpans);
  assert.ok(!own.some((line) => line.startsWith('About')), own.join('\n'));
});

test('a server accepts only https pages, and decisions of machines that name none', () => {
  const { author_role: _role, reference: _reference, url: _url, ...older } = makePendingDecision();
  assert.equal(pendingDecision.parse(older).url, null);
  assert.equal(pendingDecision.parse({ ...older, url: URL_OF_ISSUE }).url, URL_OF_ISSUE);
  for (const url of [
    'javascript:alert(1)',
    'http://codehost.example/',
    'data:text/html,x',
    'codehost.example',
  ])
    assert.equal(pendingDecision.safeParse({ ...older, url }).success, false, url);
});
