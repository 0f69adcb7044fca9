import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import {
  comment,
  commentDeleted,
  commentEdited,
  issueLabeled,
  issueOpened,
  ping,
} from '../../../../fixtures/payloads/events.ts';
import { visitor } from '../../../../fixtures/payloads/repository.ts';
import { codehost, codehostHeaders, makeRig, type Rig } from '../rig.ts';

let rig: Rig;
beforeEach(() => {
  rig = makeRig();
});
afterEach(() => rig.close());

const TEN_MINUTES = 600_001;
const made = () => rig.tasks.list({});

test('an opened issue creates a task of the template codehost from its title and body', async () => {
  const answer = await rig.ask(codehost(issueOpened(), 'issues'));
  assert.equal(answer.status, 201);
  assert.deepEqual(answer.body, {
    task_id: 't-1',
    status: 'assigned',
    dispatched: false,
    session_id: null,
    decision_id: 'd-1',
  });
  const task = rig.tasks.get('t-1');
  assert.equal(task.title, 'Spelling error in the README');
  assert.equal(task.body, 'Resolve the issue.\n\nSpelling error in the README\n\nIt says "commited".');
  assert.deepEqual([task.agent, task.project, task.template], ['scripted', 'app', 'codehost']);
  assert.deepEqual([task.source, task.sourceRef], ['codehost', 'octo/workshop#9']);
});

test('a task keeps the page of its issue and the role of its author, and no other address', async () => {
  await rig.ask(codehost(issueOpened(), 'issues'));
  const { sourceUrl, author, authorRole } = rig.tasks.get('t-1');
  assert.deepEqual(
    [sourceUrl, author, authorRole],
    ['https://codehost.example/octo/workshop/issues/9', 'codehost:octo', 'owner'],
  );
  const addresses = [
    'javascript:alert(1)',
    'http://a.example/',
    'https://me@a.example/',
    'x',
    `https://a/${'x'.repeat(600)}`,
  ];
  for (const [at, html_url] of addresses.entries()) {
    const event = issueOpened({ id: 900 + at });
    const issue = { ...event.issue, html_url, author_association: 'KING\u202e' };
    const { body } = await rig.ask(codehost({ ...event, issue }, 'issues'));
    const task = rig.tasks.get(body.task_id);
    assert.deepEqual([task.sourceUrl, task.authorRole], [null, null], html_url);
  }
});

test('the event headers of the real services are accepted too', async () => {
  const names = ['x-codehost-event', 'x-github-event', 'x-gitea-event', 'x-forgejo-event'];
  for (const [index, name] of names.entries()) {
    const ask = codehost(issueOpened({ id: 100 + index }));
    const answer = await rig.ask({ ...ask, headers: { ...ask.headers, [name]: 'issues' } });
    assert.equal(answer.status, 201, name);
  }
});

test('a form with the payload is read like JSON, signed over its raw bytes, and is the same issue', async () => {
  const payload = JSON.stringify(issueOpened({ title: 'a + b & c = 100%' }));
  const asForm = (body: string, type = 'application/x-www-form-urlencoded') => ({
    method: 'POST',
    path: '/codehost',
    headers: { 'content-type': type, ...codehostHeaders(body, 'issues') },
    body,
  });
  const form = new URLSearchParams({ payload }).toString();
  const answer = await rig.ask(asForm(form, 'Application/X-WWW-Form-Urlencoded; charset=utf-8'));
  assert.equal(answer.status, 201);
  assert.equal(rig.tasks.get('t-1').title, 'a + b & c = 100%');
  const again = await rig.ask(codehost(issueOpened({ title: 'a + b & c = 100%' }), 'issues'));
  assert.deepEqual([again.status, again.body.task_id], [200, 't-1']);
  const forged = { ...asForm(form), headers: asForm(`${form}&x=1`).headers };
  assert.equal((await rig.ask(forged)).status, 401);
  const without = await rig.ask(asForm('other=1'));
  assert.deepEqual([without.status, without.body.code], [400, 'body_invalid']);
  assert.match(without.body.hint, /application\/json/);
  assert.equal((await rig.ask(asForm('payload=%7Bnot+json'))).body.code, 'body_invalid');
  // A form is detected even without its content type.
  const unnamed = await rig.ask(asForm(`${form}&more=1`, 'text/plain'));
  assert.deepEqual([unnamed.status, unnamed.body.code], [400, 'body_invalid']);
  assert.match(unnamed.body.hint, /application\/json/);
});

test("the lines below a comment's first one are the task's context, which its decision binds", async () => {
  const below = 'The test `adds` fails:\r\n\r\n    expected 3\r\n/svc other line\r\n';
  await rig.ask(codehost(comment(`/svc fix the build\r\n\r\n${below}`), 'issue_comment'));
  const task = rig.tasks.get('t-1');
  assert.equal(task.body, 'the build');
  const [origin, ...rest] = (task.context ?? '').split('\n\n');
  assert.match(origin ?? '', /^A comment on octo\/workshop#9: https:\S+$/);
  assert.deepEqual(rest, ['The test `adds` fails:', '    expected 3\n/svc other line']);
  assert.ok(task.prompt.includes(`the build\n\nContext:\n${task.context}`), task.prompt);
  assert.equal(rig.decisions.boundTo('d-1').inputs?.context, `sha256:${hash('sha256', task.context ?? '')}`);
});

test("a comment without a prompt keeps the template's own, and blank lines add nothing", async () => {
  await rig.ask(codehost(comment('/svc fix\nOnly on Windows.', { id: 1 }), 'issue_comment'));
  assert.equal(rig.tasks.get('t-1').body, rig.webhook.templates.fix?.prompt);
  assert.match(rig.tasks.get('t-1').context ?? '', /\n\nOnly on Windows\.$/);
  await rig.ask(codehost(comment('/svc fix it\r\n \r\n', { id: 2 }), 'issue_comment'));
  assert.doesNotMatch(rig.tasks.get('t-2').context ?? '', /\n/);
  await rig.ask(codehost(comment('/svc fix a\u2028b\nc\u0000d', { id: 3 }), 'issue_comment'));
  assert.equal(rig.tasks.get('t-3').body, 'a\u2028b');
  assert.match(rig.tasks.get('t-3').context ?? '', /\n\ncd$/);
});

test('a body that is too large is refused with the name of its event', async () => {
  const large = codehost(issueOpened({ body: '\u0001'.repeat(65_536) }), 'issue_comment');
  const answer = await rig.ask(large);
  assert.equal(answer.status, 413);
  assert.match(answer.body.detail, /^the body of the event issue_comment has more than 262144 bytes/);
  assert.match(answer.body.hint, /only send the events issues and issue_comment/);
  const odd = await rig.ask({ ...large, headers: { ...large.headers, 'x-codehost-event': 'a b<script>' } });
  assert.match(odd.body.detail, /^the body has more/);
});

test('the event without a header is inferred from the payload', async () => {
  assert.equal((await rig.ask(codehost(issueOpened()))).status, 201);
  assert.equal((await rig.ask(codehost(comment('/svc fix now')))).status, 201);
  assert.deepEqual((await rig.ask(codehost(ping))).body, { ignored: true, reason: 'ping' });
  const other = await rig.ask(codehost({ ref: 'refs/heads/main', commits: [] }));
  assert.deepEqual([other.status, other.body.ignored], [200, true]);
});

test('ping answers 200', async () => {
  assert.equal((await rig.ask(codehost(ping, 'ping'))).status, 200);
  assert.equal(made().length, 0);
});

test('the label svc creates a task, another label does not', async () => {
  const other = await rig.ask(codehost(issueLabeled('bug'), 'issues'));
  assert.deepEqual([other.status, other.body.ignored], [200, true]);
  assert.equal((await rig.ask(codehost(issueLabeled('svc'), 'issues'))).status, 201);
});

test('opened followed by labeled answers 200 with the first task', async () => {
  const first = await rig.ask(codehost(issueOpened(), 'issues'));
  const second = await rig.ask(codehost(issueLabeled('svc'), 'issues'));
  assert.equal(second.status, 200);
  assert.deepEqual(second.body, first.body);
  assert.equal(made().length, 1);
});

test('a redelivery within the ten minutes is replayed, a later one answers 200 with the first task, for good', async () => {
  for (const ask of [codehost(issueOpened(), 'issues'), codehost(comment('/svc fix it'), 'issue_comment')]) {
    const first = await rig.ask(ask);
    assert.equal(first.status, 201);
    assert.equal((await rig.ask(ask)).status, 409);
    rig.clock.advance(TEN_MINUTES);
    assert.deepEqual([(await rig.ask(ask)).status], [200]);
    rig.clock.advance(400 * 86_400_000);
    rig.reopen();
    const late = await rig.ask(ask);
    assert.deepEqual([late.status, late.body.task_id], [200, first.body.task_id]);
  }
  assert.equal(made().length, 2);
});

test('issues and comments of one id, and repositories of two services, are kept apart', async () => {
  await rig.ask(codehost(issueOpened({ id: 5 }), 'issues'));
  assert.equal((await rig.ask(codehost(comment('/svc fix', { id: 5 }), 'issue_comment'))).status, 201);
  const elsewhere = issueOpened({ id: 5 });
  elsewhere.repository = { ...elsewhere.repository, html_url: 'https://other.example/octo/workshop' };
  assert.equal((await rig.ask(codehost(elsewhere, 'issues'))).status, 201);
});

test('an issue event without the template codehost is ignored, and creates a task once there is one', async () => {
  const { codehost: template, ...rest } = rig.webhook.templates;
  rig.webhook = { ...rig.webhook, templates: rest };
  const answer = await rig.ask(codehost(issueOpened(), 'issues'));
  assert.deepEqual([answer.status, answer.body.ignored], [200, true]);
  assert.equal(made().length, 0);
  assert.ok(template);
  rig.webhook = { ...rig.webhook, templates: { ...rest, codehost: template } };
  assert.equal((await rig.ask(codehost(issueLabeled('svc'), 'issues'))).status, 201);
});

test('an event about checks, reviews or a pull request has those of its repository looked at', async () => {
  const { repository } = issueOpened();
  const names = ['check_run', 'check_suite', 'workflow_run', 'status', 'pull_request', 'pull_request_review'];
  for (const [at, name] of names.entries()) {
    const answer = await rig.ask(codehost({ action: 'x', at, repository }, name));
    assert.deepEqual([answer.status, answer.body], [200, { looking: true }], name);
  }
  assert.deepEqual(
    rig.news.map(({ host, repository: name }) => `${host} ${name}`),
    names.map(() => 'codehost.example octo/workshop'),
  );
  const other = { repository: { ...repository, full_name: 'octo/other' } };
  assert.equal((await rig.ask(codehost(other, 'status'))).body.ignored, true);
  const odd = await rig.ask(codehost({ repository: [] }, 'check_run'));
  assert.deepEqual([odd.status, odd.body.ignored], [200, true]);
  assert.equal(made().length, 0);
});

test('other actions and events are ignored with a reason', async () => {
  const cases: [object, string][] = [
    [{ ...issueOpened(), action: 'closed' }, 'issues'],
    [comment('thanks, looks good'), 'issue_comment'],
    [comment('please /svc fix'), 'issue_comment'],
    [comment('/svcfix'), 'issue_comment'],
    [comment('/svc'), 'issue_comment'],
    [comment('hello\n/svc fix'), 'issue_comment'],
    [commentEdited('/svc fix'), 'issue_comment'],
    [commentDeleted('/svc fix'), 'issue_comment'],
    [{ ref: 'refs/heads/main' }, 'push'],
  ];
  for (const [payload, event] of cases) {
    const answer = await rig.ask(codehost(payload, event));
    assert.equal(answer.status, 200);
    assert.equal(answer.body.ignored, true);
    assert.equal(typeof answer.body.reason, 'string');
  }
  assert.equal(made().length, 0);
});

test("a /svc comment creates a task of its template, and the rest of the line replaces the template's prompt", async () => {
  const text = '/svc fix   the login page, please \r\nand this line is not part of it';
  const { body } = await rig.ask(codehost(comment(text), 'issue_comment'));
  const task = rig.tasks.get(body.task_id);
  assert.equal(task.body, 'the login page, please');
  assert.equal(task.title, 'the login page, please');
  assert.equal(task.template, 'fix');
  assert.match(task.context ?? '', /\n\nand this line is not part of it$/);
  const plain = await rig.ask(codehost(comment('/svc fix', { id: 2 }), 'issue_comment'));
  assert.equal(rig.tasks.get(plain.body.task_id).body, 'Fix what is broken.');
});

test('a comment on a pull request is accepted too', async () => {
  const ask = codehost(comment('/svc fix it', { onPullRequest: true }), 'issue_comment');
  assert.equal((await rig.ask(ask)).status, 201);
});

test('a comment that names an unknown template is 422 unknown_template', async () => {
  const answer = await rig.ask(codehost(comment('/svc __proto__ x'), 'issue_comment'));
  assert.deepEqual([answer.status, answer.body.code], [422, 'unknown_template']);
});

test('an event with require_approval false dispatches immediately', async () => {
  rig.webhook = { ...rig.webhook, require_approval: false };
  assert.equal((await rig.ask(codehost(issueOpened(), 'issues'))).body.dispatched, true);
  for (const association of ['OWNER', 'MEMBER', 'COLLABORATOR'] as const) {
    const ask = codehost(comment('/svc fix', { association, id: association.length }), 'issue_comment');
    assert.equal((await rig.ask(ask)).body.dispatched, true, association);
  }
});

test('a comment of anyone else with require_approval false still waits for approval', async () => {
  rig.webhook = { ...rig.webhook, require_approval: false };
  const others = ['CONTRIBUTOR', 'FIRST_TIMER', 'FIRST_TIME_CONTRIBUTOR', 'MANNEQUIN', 'NONE'] as const;
  for (const [id, association] of others.entries()) {
    const ask = codehost(comment('/svc fix', { association, user: visitor, id }), 'issue_comment');
    const { body } = await rig.ask(ask);
    assert.equal(body.dispatched, false, association);
    assert.match(
      rig.decisions.get(body.decision_id).why,
      /author codehost:\S+ is not an owner, member or collaborator/,
    );
  }
  const { author_association: _, ...unsaid } = comment('/svc fix').comment;
  const silent = { ...comment('/svc fix'), comment: { ...unsaid, id: 77, user: visitor } };
  assert.equal(
    (await rig.ask(codehost(silent, 'issue_comment'))).body.dispatched,
    false,
    'a service without an association',
  );
});

test("an untrusted author's issue with require_approval false waits, even when a member sets its label", async () => {
  rig.webhook = { ...rig.webhook, require_approval: false };
  const stranger = { user: visitor, association: 'NONE' } as const;
  for (const [id, payload] of [
    issueOpened({ ...stranger, id: 1 }),
    issueLabeled('svc', { ...stranger, id: 2 }),
    { ...issueLabeled('svc', { ...stranger, id: 3 }), sender: { login: visitor.login, id: 5 } },
  ].entries()) {
    const { body } = await rig.ask(codehost(payload, 'issues'));
    assert.equal(body.dispatched, false, `${id}`);
    assert.match(rig.decisions.get(body.decision_id).why, /^untrusted author: the issue's author codehost:/);
    assert.notEqual(rig.tasks.get(body.task_id).stranger, null);
  }
});

test('an author who is not known to belong to the repository is untrusted, and policy.actors or its owner vouches', async () => {
  rig.webhook = { ...rig.webhook, require_approval: false };
  let id = 500;
  const opened = async (issue: object, payload: object = {}) => {
    const event = issueOpened({ id: id++ });
    const { body } = await rig.ask(
      codehost({ ...event, issue: { ...event.issue, ...issue }, ...payload }, 'issues'),
    );
    return rig.tasks.get(body.task_id).stranger;
  };
  const { login } = issueOpened().issue.user;
  const person = (name: string) => ({ user: { login: name, id: 77 } });
  const by = (name: string) => ({ sender: { login: name, id: 77 } });
  assert.equal(await opened({}), null);
  for (const association of [undefined, null, 'owner', 'MEMBER ', ['OWNER'], 'CONTRIBUTOR', '']) {
    assert.notEqual(await opened({ ...person('eve'), author_association: association }, by('eve')), null);
  }
  const silent = { ...person('eve'), author_association: undefined };
  rig.actors.push('codehost:eve');
  assert.equal(await opened(silent, by('eve')), null, 'listed here');
  assert.notEqual(await opened({ ...silent, ...person('Eve') }, by('Eve')), null, 'another name');
  const owned = { repository: { ...issueOpened().repository, owner: { login: 'olga' } } };
  const olga = { ...person('olga'), author_association: undefined };
  assert.equal(
    await opened(olga, { ...owned, ...by('olga') }),
    null,
    "the repository's owner, without an association",
  );
  assert.notEqual(
    await opened({ ...olga, author_association: 'NONE' }, { ...owned, ...by('olga') }),
    null,
    'the association takes precedence',
  );
  assert.match((await opened({}, by('mallory'))) ?? '', /^it was sent here by codehost:mallory/);
  assert.equal(await opened({}, by('eve')), null, 'sent by a listed person');
  assert.equal(await opened({}, by(login)), null);
  for (const odd of ['', 'a b', 'eve\u200b', '\u0435ve', 'x'.repeat(200), 'webhook: x', '../x'])
    assert.match((await opened({ ...silent, ...person(odd) }, by(odd))) ?? '', /codehost:unknown!/, odd);
});

test('a payload without a required field is 422, naming the field', async () => {
  const answer = await rig.ask(codehost({ action: 'opened', issue: { id: 1 } }, 'issues'));
  assert.deepEqual([answer.status, answer.body.fields[0].field], [422, 'issue.title']);
});

test('an issue without text, or with control characters, is still a task', async () => {
  const { body } = await rig.ask(
    codehost(issueOpened({ title: '\u001b]0;x\u0007Broken\0', body: null }), 'issues'),
  );
  const task = rig.tasks.get(body.task_id);
  assert.equal(task.title, '\\x1b]0;x\\x07Broken\\x00');
  assert.doesNotMatch(task.body, /\0/);
});
