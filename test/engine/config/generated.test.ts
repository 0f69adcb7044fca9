import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  describeKeys,
  ENVIRONMENT,
  getAt,
  renderConfigMarkdown,
  renderExampleYaml,
  renderStarterYaml,
} from '../../../engine/config/index.ts';
import { load } from './support.ts';

// Values follow a bare `#`, prose a `#` and one space.
const uncommented = (text: string): string => text.replace(/^(\s*)#(?! \S)(.*)$/gm, '$1$2');

test('svc.yaml.example means all defaults without a change', (t) => {
  const { config, sources } = load(t, renderExampleYaml());
  assert.deepEqual(config, load(t, '').config);
  assert.ok([...sources.values()].every((source) => source === 'default'));
});

test('svc.yaml.example loads with every value uncommented, and then sets every key', (t) => {
  const { config, sources } = load(t, uncommented(renderExampleYaml()));
  const silent = [...sources].filter(([, source]) => source !== 'workspace').map(([key]) => key);
  assert.deepEqual(silent, [
    'agents.gateway_route',
    'daemon.reap_interval_sec',
    'memory.enabled',
    'memory.brief_on_dispatch',
  ]);
  const plain = load(t, '').config;
  for (const { key, default: standard } of describeKeys()) {
    if (standard === null || standard === '' || Object.keys(Object(standard)).length === 0) continue;
    assert.deepEqual(getAt(config, key.split('.')), getAt(plain, key.split('.')), key);
  }
});

test('docs/reference/config.md names every key and every variable', () => {
  const text = renderConfigMarkdown();
  for (const { key } of describeKeys()) assert.ok(text.includes(`| \`${key}\` |`), key);
  for (const { name } of ENVIRONMENT) {
    const line = text.split('\n').find((it) => it.startsWith(`| \`${name}\` |`));
    assert.ok(line, name);
  }
});

test('every table of docs/reference/config.md has as many cells in each row', () => {
  const widths = renderConfigMarkdown()
    .split('\n\n')
    .filter((block) => block.includes('\n| --- |'))
    .map(
      (block) =>
        new Set(
          block
            .split('\n')
            .filter((line) => line.startsWith('|'))
            .map((line) => line.split(/(?<!\\)\|/).length),
        ),
    );
  assert.ok(widths.length > 20);
  for (const width of widths) assert.equal(width.size, 1);
});

test('the file that svc init writes loads in a folder of any name', (t) => {
  for (const name of ['shop', 'true', '42', 'a: b', '# x', "it's", '"', 'null', '日本 語', '- x']) {
    const { config, warnings } = load(
      t,
      renderStarterYaml({ name, preset: 'codex', installed: ['codex', 'qwen'], addresses: {} }),
    );
    assert.equal(config.workspace.name, name);
    assert.equal(config.project.name, name);
    assert.equal(config.agents.default_preset, 'codex');
    assert.equal(config.webhook.secret_env, 'SVC_WEBHOOK_SECRET');
    assert.deepEqual(warnings, []);
  }
  const { config } = load(
    t,
    renderStarterYaml({ name: 'x', preset: undefined, installed: [], addresses: {} }),
  );
  assert.equal(config.agents.default_preset, '');
  assert.ok(config.webhook.templates.fix?.prompt);
});
