# Rivulet in one container. Build: docker build -t rivulet .   Run: see compose.yaml.
FROM python:3.13-slim

# fusepy loads libfuse 2, which Debian 13 calls libfuse2t64; fuse3 brings fusermount. ffmpeg converts for browsers that
# cannot play a file. No compiler, no test tools.
RUN apt-get update \
    && libfuse=libfuse2 \
    && if apt-cache show libfuse2t64 >/dev/null 2>&1; then libfuse=libfuse2t64; fi \
    && apt-get install -y --no-install-recommends ffmpeg fuse3 "$libfuse" \
    && rm -rf /var/lib/apt/lists/*

# Allows the mount of an ordinary user to be read by others: a media server runs as somebody else.
COPY docker/fuse.conf /etc/fuse.conf

WORKDIR /app
COPY requirements-build.txt requirements.txt ./
RUN pip install --no-cache-dir --require-hashes --no-deps -r requirements-build.txt \
    && pip install --no-cache-dir --no-build-isolation --require-hashes --no-deps -r requirements.txt
COPY main.py settings.json LICENSE NOTICE ./
COPY program ./program
RUN python -m compileall -q main.py program
COPY docker/entrypoint docker/healthcheck.py /usr/local/bin/

# The library is mounted below the shared folder, not on it: a media server that has the folder keeps seeing the library
# when this container is restarted.
ENV PYTHONUNBUFFERED=1 \
    RIVULET_CONFIG=/config \
    RIVULET_API__HOST=0.0.0.0 \
    RIVULET_VFS__CACHE_DIR=/config/vfs-cache \
    RIVULET_VFS__MOUNT_PATH=/mnt/rivulet/library
VOLUME /config
EXPOSE 8484
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 CMD ["python", "/usr/local/bin/healthcheck.py"]
ENTRYPOINT ["entrypoint"]
CMD ["python", "main.py", "run"]
