# Homebrew's formula. `brew install --HEAD ./packaging/consm.rb` installs the library and the command from the
# clone; the Python package has a wheel for macOS of its own.
class Consm < Formula
  desc "Label the rest of your graph, and know which of its edges to trust"
  # With a release: `url` of the tarball, and the SHA-256 that `make dist` prints.
  head "file://#{File.expand_path("..", __dir__)}", using: :git, branch: "main"
  license "MIT"

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "jansson"
  depends_on "libyaml"

  uses_from_macos "curl"
  uses_from_macos "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DCONSM_TESTS=OFF", "-DCONSM_MPI=OFF",
           "-DCONSM_TREES=OFF", "-DCONSM_CUDA=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    system bin/"consm", "train", "karate", "--per-class", "4", "-m", "gcn", "-o", "out"
    assert_path_exists testpath/"out/model.safetensors"
    (testpath/"main.c").write <<~C
      #include <consm.h>
      int main(void) { return consm_version_number() <= 0; }
    C
    system ENV.cc, "main.c", "-I#{include}", "-L#{lib}", "-lconsm", "-o", "main"
    system "./main"
  end
end
