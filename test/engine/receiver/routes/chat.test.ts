import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { chat, chatHeaders, makeRig, type Reply, type Rig } from '../rig.ts';

let rig: Rig;
beforeEach(() => {
  rig = makeRig();
});
afterEach(() => rig.close());

function ephemeral(answer: Reply): string {
  assert.equal(answer.status, 200);
  assert.deepEqual(Object.keys(answer.body), ['response_type', 'text']);
  assert.equal(answer.body.response_type, 'ephemeral');
  return answer.body.text;
}

test('`<template> <prompt>` makes a task, and the text names it and the decision it waits for', async () => {
  const text = ephemeral(await rig.ask(chat(rig, 'fix  the login page\nand the logout')));
  assert.match(text, /^t-1 was created and awaits approval: d-1/);
  const task = rig.tasks.get('t-1');
  assert.equal(task.body, 'the login page\nand the logout');
  assert.deepEqual([task.template, task.agent, task.project], ['fix', 'scripted', 'app']);
  assert.deepEqual([task.source, task.sourceRef], ['chat', 'chat:U2147 (steve) in builds']);
});

test('what Slack made of a text is undone once, and everything else stays', async () => {
  const cases = [
    ['fix a &lt;b&gt; &amp;&amp; c', 'a <b> && c'],
    ['fix &amp;lt;b&amp;gt; &amp;amp;', '&lt;b&gt; &amp;'],
    ['fix <https://a.example/x?a=1&amp;b=2>', 'https://a.example/x?a=1&b=2'],
    ['fix <http://a.example|a.example> for <@U1|bob> in <#C1|general>', 'a.example for bob in general'],
    ['fix <mailto:a@b.example|a@b.example> <@U1> <!here>', 'a@b.example @U1 !here'],
    ['fix <b> if x<y and y>z', '<b> if x<y and y>z'],
    ['fix <@U1|a&amp;lt;b>', 'a&lt;b'],
    ['fix &lt;@U1|bob&gt;', '<@U1|bob>'],
  ] as const;
  for (const [index, [said, prompt]] of cases.entries()) {
    ephemeral(await rig.ask(chat(rig, said)));
    assert.equal(rig.tasks.get(`t-${index + 1}`).body, prompt);
  }
  ephemeral(await rig.ask(chat(rig, 'deny d-1 x &lt; y')));
  assert.equal(rig.decisions.get('d-1').reason, 'x < y');
});

test('an answer warns of a prompt with characters that do not show', async () => {
  const text = ephemeral(await rig.ask(chat(rig, 'fix it\u200b\u001b]0;x\u0007')));
  assert.match(text, /deny d-1\)\. Its prompt contains 3 invisible characters\./);
  assert.match(
    ephemeral(await rig.ask(chat(rig, 'approve d-1'))),
    /Its prompt contains 3 invisible characters/,
  );
});

test('with require_approval false the text names the session', async () => {
  rig.webhook = { ...rig.webhook, require_approval: false };
  assert.equal(ephemeral(await rig.ask(chat(rig, 'fix it'))), 't-1 was created and dispatched as s-1.');
});

test("a template without a prompt of the sender's runs with its own", async () => {
  await rig.ask(chat(rig, 'fix'));
  assert.equal(rig.tasks.get('t-1').body, 'Fix what is broken.');
});

test('errors after a good signature are ephemeral texts that say what is wrong and list the templates', async () => {
  const cases = [
    ['nosuch thing', /no template "nosuch"/],
    ['bare', /has no prompt/],
    ['gone now', /no agent vanished/],
    ['approve', /approve needs an id/],
    ['approve d-99', /no decision d-99/],
    ['deny nonsense', /no decision/],
    ['status t-99', /no task t-99/],
  ] as const;
  for (const [said, wrong] of cases) {
    const text = ephemeral(await rig.ask(chat(rig, said)));
    assert.match(text, wrong, said);
    assert.match(text, /Templates: bare, codehost, fix, gone, plain\./, said);
  }
  assert.equal(rig.tasks.list({}).length, 0);
});

test('nothing, or help, lists what can be said', async () => {
  for (const said of ['', '   ', 'help'])
    assert.match(ephemeral(await rig.ask(chat(rig, said))), /Templates: /);
});

test('approve, deny and status act, and who decided is recorded by name', async () => {
  await rig.ask(chat(rig, 'fix one'));
  await rig.ask(chat(rig, 'fix two'));
  const approved = ephemeral(await rig.ask(chat(rig, 'approve d-1', { user_id: 'U99', user_name: 'ann' })));
  assert.equal(approved, 'd-1 was approved by chat:U99: t-1 was dispatched as s-1.');
  assert.deepEqual(
    [rig.decisions.get('d-1').decidedBy, rig.decisions.get('d-1').decidedVia],
    ['chat:U99', 'chat'],
  );
  assert.match(
    ephemeral(await rig.ask(chat(rig, 'deny d-2 not this week'))),
    /^d-2 was denied by chat:U2147/,
  );
  assert.equal(rig.decisions.get('d-2').reason, 'not this week');
  assert.equal(ephemeral(await rig.ask(chat(rig, 'status t-1'))), 't-1 is assigned (s-1 is queued): one');
  assert.match(ephemeral(await rig.ask(chat(rig, 'status d-2'))), /^d-2 is denied; t-2 is failed/);
  assert.match(ephemeral(await rig.ask(chat(rig, 'approve d-2'))), /d-2 was denied by chat:U2147/);
});

test('a body that is not form-encoded, or not UTF-8, is 400 body_invalid', async () => {
  for (const body of ['{"text":"fix"}', 'text=%zz', 'text=%ff', '[]']) {
    const answer = await rig.ask({ path: '/chat', body, headers: chatHeaders(body, rig.clock.now()) });
    assert.deepEqual([answer.status, answer.body.code], [400, 'body_invalid'], body);
  }
});

test("the service's own marks in a text are escaped", async () => {
  await rig.ask(chat(rig, 'fix &lt;!channel&gt; &amp; co'));
  const text = ephemeral(await rig.ask(chat(rig, 'status t-1')));
  assert.ok(text.endsWith('&lt;!channel&gt; &amp; co'));
});

test('a replayed command is 409 also here', async () => {
  const ask = chat(rig, 'fix it');
  ephemeral(await rig.ask(ask));
  assert.equal((await rig.ask(ask)).status, 409);
});

test('a text of one long run of spaces is answered', async () => {
  const text = ephemeral(await rig.ask(chat(rig, `fix${' '.repeat(200_000)}x`)));
  assert.match(text, /^t-1 was created/);
  assert.equal(rig.tasks.get('t-1').body, 'x');
});

test('an actor of the chat is the id of the user, whatever name is shown', async () => {
  for (const shown of ['webhook', 'root', 'ada', 'chat:U99', '', 'ann\u202e']) {
    await rig.ask(chat(rig, 'fix x', { user_id: 'U99', user_name: shown }));
  }
  for (const { data: _, ...event } of rig.events.listAfter(0))
    assert.equal(event.actor, 'chat:U99', event.kind);
});

test('without the id of a user, or with one that only looks like an id, nothing is done', async () => {
  const odd = [
    '',
    ' ',
    'U1\u0000',
    'U1\n',
    '\u0405U1',
    'U\u200b1',
    'U1 ',
    'chat:U1',
    '-U1',
    'U'.repeat(65),
    'Ｕ1',
    '<U1>',
  ];
  for (const user_id of odd) {
    const text = ephemeral(await rig.ask(chat(rig, 'fix x', { user_id })));
    assert.match(text, /user_id: must be the id of a user/, JSON.stringify(user_id));
  }
  assert.equal(rig.tasks.list({}).length, 0);
});

test('who is not in policy.actors, where anybody is, asks for work as a stranger and decides nothing', async () => {
  rig.webhook = { ...rig.webhook, require_approval: false };
  rig.actors.push('ada', 'chat:U2147');
  assert.match(ephemeral(await rig.ask(chat(rig, 'fix x'))), /dispatched as s-1/);
  for (const user of [
    { user_id: 'U99', user_name: 'chat:U2147' },
    { user_id: 'ada', user_name: 'ada' },
    { user_id: 'u2147' },
  ]) {
    const text = ephemeral(await rig.ask(chat(rig, 'fix x', user)));
    const id = /awaits approval: (d-\d+)/.exec(text)?.[1] ?? '';
    assert.match(rig.decisions.get(id).why, /^untrusted author: chat:\w+ is not in policy\.actors; /);
    for (const verb of ['approve', 'deny'])
      assert.match(ephemeral(await rig.ask(chat(rig, `${verb} ${id}`, user))), /is not in policy\.actors/);
    assert.equal(rig.decisions.get(id).state, 'pending');
  }
  assert.equal(rig.sessions.list({}).length, 1);
});
