import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildOllamaUrl, readEndpoint } from '../../../engine/gateway/endpoint.ts';
import type { Protocol } from '../../../engine/gateway/protocol.ts';

test('the address of an upstream reveals its protocol, as people copy it from the documentation', () => {
  const addresses: Record<string, [baseUrl: string, ...protocols: Protocol[]]> = {
    'https://api.openai.com/v1/': ['https://api.openai.com/v1', 'chat', 'responses'],
    'https://host/v1/chat/completions': ['https://host/v1', 'chat'],
    'https://host/v1/responses/': ['https://host/v1', 'responses'],
    'https://host/v1/messages': ['https://host/v1', 'messages'],
    'https://api.anthropic.com': ['https://api.anthropic.com', 'messages'],
    'https://host/anthropic': ['https://host/anthropic', 'messages'],
    'https://generativelanguage.googleapis.com': ['https://generativelanguage.googleapis.com', 'gemini'],
    'https://generativelanguage.googleapis.com/v1beta/openai/': [
      'https://generativelanguage.googleapis.com/v1beta/openai',
      'chat',
    ],
    'https://host/v1beta': ['https://host/v1beta', 'gemini'],
    'http://127.0.0.1:11434/v1': ['http://127.0.0.1:11434/v1', 'chat'],
  };
  for (const [address, [baseUrl, ...protocols]] of Object.entries(addresses))
    assert.deepEqual(readEndpoint(address), { baseUrl, protocols }, address);
});

test('an upstream for messages only speaks them at any address', () => {
  for (const [address, baseUrl] of [
    ['https://host', 'https://host'],
    ['https://host/v1', 'https://host/v1'],
    ['https://host/v1/messages', 'https://host/v1'],
  ] as const)
    assert.deepEqual(readEndpoint(address, 'messages'), { baseUrl, protocols: ['messages'] });
});

test('an Ollama serves OpenAI’s clients below /v1', () => {
  for (const host of ['home:1', 'http://home:1/', 'http://home:1/v1'])
    assert.equal(buildOllamaUrl(host), 'http://home:1/v1');
});
