/** Terms of people who collect data, store it and learn from it. As in `developing.ts`. */
export const DATA = `
dataframe dataframes pandas polars frame arrow
dataset data-set corpus sample samples gold datensatz 数据集 データセット
sample-data seed fixture demo-data
join joins merging merge merge-into combine
upsert merge-into insert-or-update on-conflict
overwrite rewrite rewrites replacewhere
etl elt extract extractor ingest ingestion load loading pipeline source feed zulieferung
source upstream origin feed feeds connector supplier
data-lake lake lakehouse delta iceberg hudi parquet orc
warehouse data-warehouse bigquery snowflake redshift dwh
stored-procedure stored-procedures sproc sprocs plsql
file-format format parquet avro orc csv
compression compress codec zstd gzip snappy lz4 brotli kompression 压缩 圧縮
column-name columns naming fields field spalte
partition partitions partitioned shard sharding bucket cluster-by
backfill reprocess historical rerun catchup catch-up replay past-runs
dag airflow dagster prefect orchestrator orchestration scheduler workflow
event-time event-stream clickstream kafka topic
schema contract contracts avro protobuf proto
lineage catalogue catalog datahub ownership glossary katalog
data-quality quality great-expectations expectations pandera validation checks constraint
drift shift distribution-shift distribution skew covariate
false-positive false-positives false-alarm spurious alarm alarms fehlalarm 误报 誤検知
monitoring alert alarm drift
label labels target annotation ground-truth gold class y labelled annotated 标签 标注 ラベル
ground-truth gold gold-standard labelled annotated reference
ocr document-recognition text-recognition tesseract
feature features variable attribute predictor merkmal 特征 特徴量
feature-store feast online-store
predict prediction predictions predictor inference infer score scores scoring scorer forecast vorhersage 预测 推理 推論 予測
model classifier predictor regressor estimator network checkpoint weights modell 模型 モデル
classifier classification class model
weights weight checkpoint checkpoints model-file parameters
deserialization deserialize pickle unpickle load loading
pickle unpickle joblib pickles
train training trained retrain retraining fit fitting learn learning trainieren training 训练 学習 訓練
churn attrition retention leave cancel kundigung 流失 離脱
fraud chargeback suspicious
recommend recommendation recommender ranking
accuracy auc precision recall f1 metric score quality roc genauigkeit güte 准确率 精度
score-dropped quality-dropped scores fell dropped worse degraded
leakage leak data-leak target-leak too-good
split train-test holdout validation-set groupkfold fold crossvalidation cross-validation 划分 分割
overfit overfitting overfitted early-stopping earlystopping regularization memorise val-loss 过拟合 過学習
plateau stagnate stopped-improving stuck plateaus プラトー 停滞 止まった
validation-loss val-loss 検証損失
imbalance imbalanced class-weight class-weights skewed minority oversampling sampler 不平衡 不均衡
probability probabilities calibrated calibration calibrate platt isotonic likelihood confidence
learning-rate lr cosine warmup 学習率 学习率
neural-network neural deep-learning deep transformer net
gradient-boosting boosting xgboost lightgbm catboost gbm trees
experiment experiments run mlflow wandb trial hydra versuch 实验 実験
deterministic determinism nondeterministic reproducible reproducibility seed seeds random
random-number random-numbers seed seeds seeded
dataloader data-loader loader loading
gpu cuda graphics-card device accelerator nvidia a100
invalid outside unknown wrong illegal
preempt preempted preemption spot evicted interruptible
embedding embeddings vector vectors dense faiss hnsw pgvector
vector-index vector-database vector-store faiss pgvector hnsw embedding ann
float16 half-precision fp16 bf16 quantize quantization
rag retrieval retrieval-augmented chunk chunks passages
chunk chunks splitting split passage segment
prompt template instruction bos
token tokens tokenizer tokenization tokenisation bos eos start-marker
start-marker bos beginning-of-sequence
llm language-model gpt llama chatbot
notebook notebooks jupyter ipynb cell cells
plot plots chart charts graph figure matplotlib visualization diagramm 图表 グラフ
headless without-display server agg xvfb
dashboard looker tableau metabase bi report
refresh refreshed cache cached caches stale
canary gradual gradual-rollout staged progressive percent shadow blue-green schrittweise 灰度 カナリア
rollout release canary
right-to-be-forgotten erasure erase forget-me delete subject gdpr dsgvo
personal-information personal-data customer-data pii personenbezogen personenbezogene kundendaten 个人信息 個人情報
pseudonymize pseudonymised pseudonymisiert anonymize anonymous anonymisiert hashed masked klarnamen kundennamen datenschutz
credentials account password secret vault
renew rotate rotation refresh replace expire erneuern 更新 轮换 更新
concurrency workers parallelism threads
background-job background-jobs background celery worker sidekiq task queue
static-typing type-hint type-hints mypy pyright typed annotations
unit-test tests pytest suite
mock mocking fake freeze freezegun time-machine cassette
formatter formatting case commas sqlfluff black ruff style
linter lint sqlfluff ruff flake8 pylint enforce enforces
dependency-resolution resolver lock lockfile poetry pip uv resolve
dependency-resolution lock poetry uv pip-compile
schema-change migration migrations alembic flyway liquibase
pull-request pr review diff change
document-splitting chunk chunks
executor executors worker spark
shuffle wide-join sort-merge spill
supplier lieferant zulieferer zulieferdatei vendor
master-data stammdaten
spreadsheet excel
backup standby replica secondary 备用 备份 予備 バックアップ
local laptop development-environment dev-environment docker-compose workstation
locally laptop local
out-of-range out-of-bounds bounds outside beyond
hyperparameter hyperparameters tuning hydra optuna parameter
rows records row record entries zeilen 行 レコード
hidden-test holdout
`;
