import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildJsonSchema, describeKeys, ENVIRONMENT } from '../../../engine/config/index.ts';
import { EVENTS } from '../../../engine/notify/events.ts';
import { load } from './support.ts';

const beside = (key: string): boolean =>
  /^(?:webhook|notify|retain|graph|asks|fleet|sources)(?:\.|$)|^server\.(?:titles|events|decide|decide_code)$/.test(
    key,
  );
const info = (key: string) => describeKeys().find((row) => row.key === key);

test('the reference lists 87 keys in 20 sections, besides webhook, notify, retain, graph, asks, fleet, sources and the linked server', () => {
  const keys = describeKeys().map(({ key }) => key);
  const documented = keys.filter((key) => !beside(key));
  // The document's keys, agents.permissions (what an agent on transport acp may do without asking), ai.prices,
  // ai.embeddings, guard.checks and guard.language.exclude.
  assert.equal(documented.length, 87);
  assert.equal(new Set(documented.map((key) => key.split('.')[0])).size, 20);
  assert.deepEqual(keys.filter(beside), [
    'server.titles',
    'server.events',
    'server.decide',
    'server.decide_code',
    'webhook.secret_env',
    'webhook.allow',
    'webhook.require_approval',
    'webhook.templates',
    'notify.webhooks',
    'notify.push',
    'notify.desktop',
    'notify.quiet',
    'retain.events',
    'retain.tasks',
    'retain.logs',
    'retain.refs',
    'retain.discarded',
    'graph.exact',
    'asks.on_timeout',
    'fleet.pool',
    'fleet.on_lost',
    'fleet.pools',
    'fleet.lost_after_sec',
    'sources',
  ]);
  assert.equal(new Set(keys).size, keys.length);
});

test('every key has a description, and every key but none says what leaving it out means', () => {
  for (const { key, type, description, unset } of describeKeys()) {
    assert.match(type, /^(?:\*?(?:bool|int|int64)|string(?:, or map .+->.+)?|map .+->.+|\[\].+)$/, key);
    assert.match(description, /^.{10,}\.$/s, key);
    assert.ok(unset, `${key} does not describe the unset value`);
  }
});

test('the defaults match the specification', () => {
  const expected: Record<string, unknown> = {
    'agents.timeout_sec': 600,
    'agents.transport': null,
    'agents.gateway_route': null,
    'ai.mode': 'stub',
    'ai.providers': null,
    'bus.retain_acked': '24h',
    'bus.retain_unread': '168h',
    'bus.max_acked': 200,
    'bus.log_max_bytes': 524_288,
    'bus.surfaced_retain': '48h',
    'chair.guidance.clarify_before_spawn': true,
    'context.guidance.protect_tools': null,
    'context.threshold_bytes': 4096,
    'context.ttl_minutes': 30,
    'context.hooks.post_tool': false,
    'daemon.addr': '127.0.0.1:0',
    'daemon.reap_interval_sec': null,
    'gateway.addr': '127.0.0.1:8788',
    'guard.profile': '',
    'memory.enabled': null,
    'memory.brief_limit': 8,
    parsers: null,
    'paths.data': '.svc',
    'policy.mode': '',
    'project.name': 'workspace',
    shared: {},
    'telemetry.work': '',
    'ui.addr': '127.0.0.1:8790',
    'webhook.require_approval': true,
    'webhook.allow': ['task', 'codehost', 'chat'],
  };
  for (const [key, value] of Object.entries(expected)) assert.deepEqual(info(key)?.default, value, key);
  assert.equal(Object.keys(info('agents.cmds')?.default as object).length, 9);
  assert.equal(Object.keys(info('agents.interactive')?.default as object).length, 11);
  assert.equal(Object.keys(info('agents.notify')?.default as object).length, 11);
  assert.deepEqual(Object.keys(info('agents.acp')?.default as object), ['claude', 'opencode']);
});

test('allowed values and overriding variables are listed', () => {
  assert.deepEqual(info('guard.profile')?.allowed, ['lite', 'shared', 'strict', 'bring', 'none']);
  assert.deepEqual(info('agents.transport')?.allowed, ['subprocess', 'acp']);
  assert.deepEqual(info('webhook.allow')?.allowed, ['task', 'codehost', 'chat']);
  assert.equal(info('agents.timeout_sec')?.env, 'SVC_AGENT_TIMEOUT_SEC');
  assert.equal(info('ai.ollama.host')?.env, 'SVC_OLLAMA_HOST');
});

test('all 30 environment variables are named once, and overriding ones name real keys', () => {
  assert.equal(ENVIRONMENT.length, 30);
  assert.equal(new Set(ENVIRONMENT.map(({ name }) => name)).size, 30);
  for (const { name, key, scope, effect } of ENVIRONMENT) {
    assert.match(name, /^SVC_[A-Z_]+$/);
    assert.ok(effect.length > 5, name);
    assert.equal(scope === 'config', key !== undefined, name);
    if (key) assert.ok(info(key), `${name} overrides ${key}, which does not exist`);
  }
});

test('an empty file means all defaults, and an inner default survives its section', (t) => {
  for (const text of ['', '# nothing\n', '\uFEFF', 'agents:\nchair:\n  guidance:\n', '---\n']) {
    const { config } = load(t, text);
    assert.equal(config.agents.timeout_sec, 600);
    assert.equal(config.chair.guidance.bus_only, true);
    assert.equal(config.ai.ollama.host, '');
  }
});

test('an optional key stays unset where unset differs from zero', (t) => {
  assert.equal(load(t, '').config.daemon.reap_interval_sec, undefined);
  assert.equal(load(t, 'daemon: {reap_interval_sec: 0}').config.daemon.reap_interval_sec, 0);
  assert.equal(load(t, 'bus: {max_acked: 0}').config.bus.max_acked, 0);
  assert.equal(load(t, '').config.memory.enabled, undefined);
});

test('zero seconds and an empty mode mean the default', (t) => {
  const { config } = load(t, 'agents: {timeout_sec: 0}\nai: {mode: ""}\n');
  assert.equal(config.agents.timeout_sec, 600);
  assert.equal(config.ai.mode, 'stub');
});

test('fifteen outbound events are listed in order', () => {
  const ids = Object.keys(EVENTS);
  assert.equal(ids.length, 15);
  assert.deepEqual(ids.slice(0, 6), [
    'task_created',
    'needs_approval',
    'approved',
    'denied',
    'dispatched',
    'sealed',
  ]);
  assert.equal(ids.at(-1), 'alert');
});

test('the JSON Schema is plain draft-07 with a description for every key', () => {
  const schema = buildJsonSchema() as {
    properties: Record<string, { properties?: Record<string, unknown> }>;
  };
  assert.equal(Object.keys(schema.properties).length, 27);
  const timeout = schema.properties.agents?.properties?.timeout_sec as Record<string, unknown>;
  assert.equal(timeout.type, 'integer');
  assert.match(String(timeout.description), /Unset: 0 means the default/);
  const text = JSON.stringify(schema);
  assert.doesNotMatch(text, /"notation"|"unset"|"nil"/);
  assert.match(text, /"enum":\["subprocess","acp"\]/);
});
