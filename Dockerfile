# An image for training on processors, by a user without rights and with a root file system that
# cannot be written:
#
#   docker build --tag edgecil .
#   docker run --rm --read-only --tmpfs /tmp --user 1000 --volume "$PWD:/work" edgecil \
#     run quickdraw --method simplecil --classes 6 --tasks 3 --out runs/x
#
# Results are in the folder that is mounted at /work, which the user must be able to write.
FROM python:3.11-slim

COPY pyproject.toml constraints.txt README.md LICENSE /source/
COPY LICENSES /source/LICENSES
COPY src /source/src
# torch for processors: the usual wheel for Linux holds gigabytes for CUDA.
RUN pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu \
    --constraint /source/constraints.txt '/source[train]'

# What is computed once, such as features of images, ends with the container; to keep it, mount a
# folder and set EDGECIL_CACHE to it.
ENV HOME=/tmp \
    EDGECIL_CACHE=/tmp/edgecil \
    MPLCONFIGDIR=/tmp/matplotlib
USER 65532
WORKDIR /work
ENTRYPOINT ["edgecil"]
CMD ["--help"]
