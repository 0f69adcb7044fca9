import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listReceiverSecrets, listSecretVariables } from '../../../engine/config/index.ts';
import { load, problems } from './support.ts';

const refuses = (name: string, text: string, expected: RegExp): void => {
  test(name, (t) => {
    assert.match(problems(t, text).join('\n'), expected);
  });
};

refuses(
  'a preset without an agents.acp entry cannot use transport acp',
  'agents:\n  transport:\n    codex: acp\n',
  /^svc\.yaml:3:12 agents\.transport\.codex: transport acp needs an entry agents\.acp\.codex$/,
);
for (const preset of ['cursor', 'droid', 'antigravity', 'kiro']) {
  refuses(
    `${preset} cannot use auth gateway`,
    `agents: {auth: {${preset}: gateway}}`,
    new RegExp(`agents\\.auth\\.${preset}: gateway_unroutable: ${preset} cannot be routed`),
  );
}
refuses(
  'the default preset must exist',
  'agents: {default_preset: codx}',
  /unknown preset, did you mean codex\?/,
);
refuses('the default preset must run headless', 'agents: {default_preset: kiro}', /only runs interactively/);
refuses(
  'a setting for an unknown preset is refused',
  'agents: {auth: {cluade: account}}',
  /did you mean claude\?/,
);
refuses(
  'a template names a known preset',
  'webhook: {templates: {x: {agent: nobody}}}',
  /x\.agent: unknown preset; known: claude, /,
);
refuses(
  'a template needs an agent or a prompt',
  'webhook: {templates: {x: {}}}',
  /needs an agent or a prompt/,
);
refuses(
  'a template names a known project',
  'webhook: {templates: {x: {prompt: a, project: p}}}',
  /unknown project/,
);
refuses(
  'a template is strict',
  'webhook: {templates: {x: {agnt: claude}}}',
  /agnt: unknown key, did you mean agent\?/,
);
refuses(
  'an allowlist without actors is refused',
  'policy: {mode: allowlist}',
  /^svc\.yaml:1:1 policy\.actors: .*everyone/,
);
refuses(
  'project ids are unique',
  'projects: [{id: a, path: .}, {id: a, path: b}]',
  /projects\[1\]\.id: repeats/,
);
refuses(
  'a provider has no name of one that another key sets',
  'ai: {ollama: {host: "127.0.0.1:1"}, providers: [{name: ollama, base_url: "http://127.0.0.1:2"}]}',
  /^svc\.yaml:1:\d+ ai\.providers\[0\]\.name: is also the name of the provider that ai\.ollama\.host sets/,
);
refuses(
  'nor that of the pass-through',
  'ai: {passthrough: {anthropic: {base_url: "https://api.anthropic.com"}}, providers: [{name: anthropic, base_url: "http://127.0.0.1:2"}]}',
  /that ai\.passthrough\.anthropic sets/,
);
test('an unused port is free', (t) => {
  const { config } = load(
    t,
    'ai: {ollama: {host: "127.0.0.1:1"}, providers: [{name: anthropic, base_url: "http://127.0.0.1:2"}, {name: ollama, base_url: "http://127.0.0.1:2", enabled: false}]}',
  );
  assert.equal(config.ai.providers.length, 2);
});
refuses(
  'project ids are not empty',
  'projects: [{id: "", path: .}]',
  /projects\[0\]\.id: expected a project id/,
);
for (const path of ['/etc/passwd', '../.env', 'a/../../.env', '.git/config', 'conf/', '.', ''])
  refuses(
    `an environment file lies inside the project: ${path}`,
    `projects: [{id: a, path: b, env_files: [${JSON.stringify(path)}]}]`,
    /projects\[0\]\.env_files\[0\]: (?:expected a file's path inside|git's own files)/,
  );
for (const [command, why] of [
  ['', /the command is empty/],
  ["sh -c 'open", /unbalanced ' quote/],
  ["sh -c 'echo \u001b]0; touch x;\u0007'", /invisible character/],
  ['echo \u202e', /invisible character/],
] as const)
  refuses(
    `a setup command is one that can be split and seen: ${JSON.stringify(command)}`,
    `projects: [{id: a, path: b, setup: [${JSON.stringify(command)}]}]`,
    why,
  );
refuses(
  'a provider has a known tier and a web address',
  'ai: {providers: [{name: a, base_url: "ftp://x", tier: chep}]}',
  /base_url: expected an address that starts with http[\s\S]*tier: .*did you mean cheap\?/,
);
refuses('a command contains the prompt', 'agents: {cmds: {x: x}}', /must contain \{\{prompt\}\}/);
refuses('a command has balanced quotes', `agents: {cmds: {x: 'x "{{prompt}}'}}`, /unbalanced " quote/);
refuses(
  'an acp command has no placeholders',
  'agents: {acp: {x: "x {{name}}"}}',
  /\{\{name\}\}; none is allowed/,
);
refuses(
  'notify templates know their placeholders',
  'agents: {notify: {claude: {mode: shell, cmd: "x {{text}}"}}}',
  /\{\{text\}\}, allowed: .*\{\{body\}\}/,
);
refuses(
  'a notify mode has what it needs',
  'agents: {notify: {claude: {mode: http}}}',
  /mode http needs url or steps/,
);
refuses(
  'the daemon stays on loopback',
  'daemon: {addr: "0.0.0.0:1"}',
  /daemon\.addr: must be a loopback address/,
);
refuses('durations need a unit', 'bus: {retain_acked: "30"}', /bus\.retain_acked: not a duration/);
refuses(
  'outbound events are known',
  'notify: {webhooks: [{url: "http://x", events: [seald]}]}',
  /did you mean sealed\?/,
);
refuses(
  'outbound addresses are http',
  'notify: {webhooks: [{url: "file:///etc"}]}',
  /url: expected an address/,
);
refuses(
  'a required member is named',
  'notify: {webhooks: [{events: [failed]}]}',
  /webhooks\[0\]\.url: is required/,
);

refuses(
  'a phone has a known kind',
  'notify: {push: [{kind: pushover, topic_env: SVC_TOPIC}]}',
  /push\[0\]\.kind: /,
);
refuses(
  'the topic of a phone is in a variable',
  'notify: {push: [{kind: ntfy, topic_env: ""}]}',
  /push\[0\]\.topic_env: /,
);
refuses(
  'a chat is an id',
  'notify: {push: [{kind: telegram, token_env: SVC_BOT, chat: "my chat"}]}',
  /push\[0\]\.chat: expected the id of a chat, which svc notify pair prints/,
);
for (const [hours, why] of [
  ['10pm-7am', /notify\.quiet: expected hours such as 22:00-07:00/],
  ['25:00-07:00', /notify\.quiet: expected hours/],
  ['22:00-22:00', /notify\.quiet: quiet hours must end at another time/],
  ['22:00-07:00 Berlin', /notify\.quiet: unknown time zone Berlin; write it like Europe\/Berlin/],
] as const)
  refuses(`quiet hours are not ${hours}`, `notify: {quiet: "${hours}"}`, why);

test('a secret in place of its variable is refused and never repeated', (t) => {
  const secrets = [
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'a'.repeat(64),
    '9f86d081884c7d659a2feaa0c55ad015',
    'deadbeefdeadbeef0123456789abcdef',
    'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
    'correct horse battery staple',
    'SVC_WEBHOOK_SECRET,aGVsbG8gd29ybGQgaGVsbG8=',
  ];
  for (const secret of secrets) {
    const text = problems(t, `webhook: {secret_env: "${secret}"}`).join('\n');
    assert.match(text, /^svc\.yaml:1:23 webhook\.secret_env: (?:looks like a secret|expected the name)/);
    for (const part of secret.split(/[ ,]/).slice(-1)) assert.ok(!text.includes(part), text);
  }
  for (const name of [
    'SVC_WEBHOOK_SECRET',
    'A, B',
    'svc_secret_2026',
    'MY_VERY_LONG_COMPANY_WEBHOOK_SIGNING_SECRET_2',
  ]) {
    assert.equal(load(t, `webhook: {secret_env: "${name}"}`).config.webhook.secret_env, name);
  }
});

test('an allowed but surprising setting is a warning with its place', (t) => {
  const { warnings } = load(
    t,
    'policy: {actors: [alice]}\nwebhook: {templates: {status: {prompt: hi}}}\nai: {passthrough: {anthropic: {api_key: topsecret}}}\n',
  );
  assert.equal(warnings.length, 3);
  assert.match(warnings.join('\n'), /svc\.yaml:2:\d+ webhook\.templates\.status: \/chat uses/);
  assert.doesNotMatch(warnings.join('\n'), /topsecret/);
});

test('projects may be outside the workspace', (t) => {
  const { config } = load(
    t,
    'projects: [{id: a, path: ../elsewhere}]\nwebhook: {templates: {x: {prompt: a, project: a}}}',
  );
  assert.equal(config.projects[0]?.path, '../elsewhere');
});

test('webhook.secret_env is one for all routes, or a map with one for each', (t) => {
  const secretsOf = (text: string, env: Record<string, string>) => {
    const { config } = load(t, text);
    return listReceiverSecrets(config, (name) => env[name]);
  };
  const env = { A: 'a', B: 'b', OLD: 'old' };
  const all = secretsOf('webhook: { secret_env: "A, OLD, UNSET" }', env);
  assert.deepEqual(all, {
    task: ['a', 'old'],
    codehost: ['a', 'old'],
    chat: ['a', 'old'],
    decisions: ['a', 'old'],
  });
  const map = 'webhook: { secret_env: { task: A, chat: "B, OLD" } }';
  assert.deepEqual(secretsOf(map, env), { task: ['a'], chat: ['b', 'old'] });
  assert.deepEqual(
    listSecretVariables(load(t, map).config),
    ['A', 'B', 'OLD'],
    'no worker receives any of them',
  );
  assert.throws(() => secretsOf(map, { A: 'a' }), {
    code: 'secret_missing',
    message: 'B, OLD is not set (webhook.secret_env.chat)',
  });
  for (const none of ['{}', '""', '{ task: "" }'])
    assert.throws(() => secretsOf(`webhook: { secret_env: ${none} }`, env), { code: 'secret_missing' }, none);
  assert.match(
    problems(t, 'webhook: { secret_env: { chats: A } }').join('\n'),
    /webhook\.secret_env\.chats: unknown key/,
  );
  const pasted = problems(t, 'webhook: { secret_env: { chat: whsec_c2VjcmV0c2VjcmV0c2VjcmV0 } }').join('\n');
  assert.match(pasted, /webhook\.secret_env\.chat: looks like a secret itself/);
  assert.doesNotMatch(pasted, /whsec_/);
  assert.match(problems(t, 'webhook: { secret_env: [A] }').join('\n'), /webhook\.secret_env: expected/);
});

refuses(
  'what Anthropic’s messages are passed to speaks them',
  'ai: {passthrough: {anthropic: {base_url: "https://api.openai.com/v1/chat/completions"}}}',
  /base_url: expected an upstream for Anthropic’s messages; this is an address for chat, which belongs in ai\.providers/,
);
for (const address of ['"https://me:topsecret@host/v1"', '"https://host/v1?api-version=topsecret"'])
  test(`an upstream cannot have the address ${address.replace('topsecret', 'x')}, which is not repeated`, (t) => {
    const found = problems(t, `ai: {providers: [{name: a, base_url: ${address}}]}`).join('\n');
    assert.match(found, /base_url: expected an address without/);
    assert.doesNotMatch(found, /topsecret/);
  });
refuses('an Ollama has a host', 'ai: {ollama: {host: "a b"}}', /host: expected host:port or an address/);
